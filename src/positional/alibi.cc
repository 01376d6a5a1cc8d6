#include <ATen/ATen.h>

#include <cmath>

#include "positional/registry.h"

namespace lengthwise {

std::vector<double> alibi_slopes(int64_t heads) {
  const auto power_slopes = [](int64_t count) {
    std::vector<double> slopes;
    for (int64_t h = 1; h <= count; ++h) {
      slopes.push_back(std::exp2(-8.0 * static_cast<double>(h) / static_cast<double>(count)));
    }
    return slopes;
  };
  int64_t power = 1;
  while (2 * power <= heads) power *= 2;
  std::vector<double> slopes = power_slopes(power);
  const std::vector<double> finer = power_slopes(2 * power);
  for (size_t h = 0; static_cast<int64_t>(slopes.size()) < heads; h += 2) slopes.push_back(finer[h]);
  return slopes;
}

at::Tensor alibi_table(const at::Tensor& slopes, int64_t distances) {
  return -slopes.unsqueeze(1) * at::arange(distances, slopes.options().requires_grad(false));
}

namespace {

class Alibi : public Encoding {
 public:
  explicit Alibi(const EncodingShape& shape)
      : slopes_(at::tensor(alibi_slopes(shape.heads), at::kDouble).to(shape.device, shape.type)) {}

  const EncodingInfo& info() const override {
    static const EncodingInfo info{.name = "alibi",
                                   .formula = "S_ij -= slope[head] (i - j), slopes 2^(-8h/H)",
                                   .paper = "Press et al. 2022 (2108.12409)",
                                   .learned = "none"};
    return info;
  }

  ScoreTerms score_terms(int64_t distances, int64_t, const StepNoise&) const override {
    ScoreTerms terms;
    terms.table = alibi_table(slopes_, distances);
    return terms;
  }

 private:
  at::Tensor slopes_;  ///< [head]
};

}  // namespace

std::unique_ptr<Encoding> make_alibi(const EncodingConfig&, const EncodingShape& shape, Parameters&) {
  return std::make_unique<Alibi>(shape);
}

}  // namespace lengthwise
