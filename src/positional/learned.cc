#include <ATen/ATen.h>

#include "core/error.h"
#include "positional/entry.h"

namespace lengthwise {
namespace {

class LearnedAbsolute : public Encoding {
 public:
  LearnedAbsolute(const EncodingArguments& arguments, const EncodingShape& shape, EncodingParameters parameters)
      : limit_(arguments.whole("positions", 1, int64_t{1} << 30)) {
    table_ = &parameters.add("positions", {limit_, shape.width}, Initial::normal(1.0));
  }

  at::Tensor embedding_addition(const at::Tensor& positions) const override {
    // On a GPU asking would make the host wait; lengths are checked before anything runs there.
    if (positions.is_cpu() && positions.max().item<int64_t>() >= limit_) {
      fail("position {} is past the {} of the learned table; raise --max-positions", positions.max().item<int64_t>(),
           limit_);
    }
    return at::embedding(table_->value, positions);
  }

  std::optional<int64_t> position_limit() const override { return limit_; }

 private:
  int64_t limit_;
  Parameter* table_;
};

}  // namespace

extern const EncodingEntry learned_encoding{
    .info = {.name = "learned",
             .label = "Learned",
             .family = "embedding",
             .formula = "x_t += table[t], refused past the table's end",
             .paper = "Gehring et al. 2017 (1705.03122)",
             .learned = "positions x width",
             .translation_invariant = false,
             .absolute = true,
             .aliases = {"learned-absolute"}},
    .options = {{"positions", "2048", "rows of the table; longer sequences are refused", "max-positions"}},
    .make = [](const EncodingArguments& arguments, const EncodingShape& shape, EncodingParameters parameters)
        -> std::unique_ptr<Encoding> { return std::make_unique<LearnedAbsolute>(arguments, shape, parameters); }};

}  // namespace lengthwise
