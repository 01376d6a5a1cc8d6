#include <ATen/ATen.h>

#include "core/error.h"
#include "positional/registry.h"

namespace lengthwise {
namespace {

class LearnedAbsolute : public Encoding {
 public:
  LearnedAbsolute(const EncodingConfig& config, const EncodingShape& shape, Parameters& parameters)
      : limit_(config.max_positions) {
    if (limit_ < 1) fail("--max-positions must be positive, not {}", limit_);
    table_ = &parameters.add("encoding.positions", {limit_, shape.width}, Initial::normal(1.0));
  }

  const EncodingInfo& info() const override {
    static const EncodingInfo info{.name = "learned",
                                   .formula = "x_t += table[t], refused past the table's end",
                                   .paper = "Gehring et al. 2017 (1705.03122)",
                                   .learned = "max-positions x width",
                                   .translation_invariant = false,
                                   .absolute = true};
    return info;
  }

  at::Tensor embedding_addition(const at::Tensor& positions) const override {
    // On a GPU asking would make the host wait; lengths are checked before anything runs there.
    if (positions.is_cpu() && positions.max().item<int64_t>() >= limit_) {
      fail("position {} is past the {} of the learned table; raise --max-positions", positions.max().item<int64_t>(),
           limit_);
    }
    return table_->value.index_select(0, positions);
  }

  std::optional<int64_t> position_limit() const override { return limit_; }

 private:
  int64_t limit_;
  Parameter* table_;
};

}  // namespace

std::unique_ptr<Encoding> make_learned(const EncodingConfig& config, const EncodingShape& shape,
                                       Parameters& parameters) {
  return std::make_unique<LearnedAbsolute>(config, shape, parameters);
}

}  // namespace lengthwise
