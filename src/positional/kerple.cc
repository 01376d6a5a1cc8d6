#include <ATen/ATen.h>

#include <cmath>

#include "positional/entry.h"
#include "positional/formulas.h"

namespace lengthwise {
namespace {

// The two kernels of KERPLE, both with two learned numbers per head, which all layers share as in the released code:
//
//     kerple-log    S_ij -= c ln(1 + a (i - j)),   a > 0, c > 0
//     kerple-power  S_ij -= a (i - j)^p,           a > 0, 0 < p < 2
//
// The released code learns the numbers themselves and sets them back into their range after each step. Here they are
// learned through a function that has no other values, a softplus or twice a sigmoid, so that the optimizer needs to
// know nothing of them. It draws them at the start, a from [0, 1), c and p from [0, 2); here the heads are spread
// evenly over the same ranges, from a flat one to a steep one.

double inverse_softplus(double value) {
  return std::log(std::expm1(value));
}

double inverse_of_twice_sigmoid(double value) {
  return std::log(value / (2 - value));
}

/// One number per head, that starts in the middle of the head's part of the range from 0 to `end`.
Parameter* add_spread(EncodingParameters& parameters, const char* name, int64_t heads, double end,
                      double (*inverse)(double)) {
  std::vector<double> start;
  for (int64_t head = 0; head < heads; ++head) {
    start.push_back(inverse(end * (static_cast<double>(head) + 0.5) / static_cast<double>(heads)));
  }
  return &parameters.add(name, {heads}, Initial::given(start), /*decay=*/false);
}

class KerpleLog : public Encoding {
 public:
  KerpleLog(const EncodingShape& shape, EncodingParameters parameters)
      : rate_(add_spread(parameters, "rate", shape.heads, 1, inverse_softplus)),
        factor_(add_spread(parameters, "factor", shape.heads, 2, inverse_softplus)) {}

  LayerValues layer(int64_t, const EncodingContext& context) const override {
    const at::Tensor distance = at::arange(context.distances, rate_->value.options().requires_grad(false));
    LayerValues values;
    values.table =
        -at::softplus(factor_->value).unsqueeze(1) * at::log1p(at::softplus(rate_->value).unsqueeze(1) * distance);
    return values;
  }

 private:
  Parameter *rate_, *factor_;
};

class KerplePower : public Encoding {
 public:
  KerplePower(const EncodingShape& shape, EncodingParameters parameters)
      : factor_(add_spread(parameters, "factor", shape.heads, 1, inverse_softplus)),
        exponent_(add_spread(parameters, "exponent", shape.heads, 2, inverse_of_twice_sigmoid)) {}

  LayerValues layer(int64_t, const EncodingContext& context) const override {
    LayerValues values;
    values.table = power_table(at::softplus(factor_->value), 2 * at::sigmoid(exponent_->value), context.distances);
    return values;
  }

 private:
  Parameter *factor_, *exponent_;
};

}  // namespace

extern const EncodingEntry kerple_log_encoding{.info = {.name = "kerple-log",
                                                        .label = "KERPLE, log",
                                                        .family = "bias",
                                                        .formula = "S_ij -= c[head] ln(1 + a[head] (i - j)), a, c > 0",
                                                        .paper = "Chi et al. 2022 (2205.09921)",
                                                        .learned = "two numbers per head, shared by all layers",
                                                        .aliases = {"kerple"}},
                                               .make = [](const EncodingArguments&, const EncodingShape& shape,
                                                          EncodingParameters parameters) -> std::unique_ptr<Encoding> {
                                                 return std::make_unique<KerpleLog>(shape, parameters);
                                               }};

extern const EncodingEntry kerple_power_encoding{
    .info = {.name = "kerple-power",
             .label = "KERPLE, power",
             .family = "bias",
             .formula = "S_ij -= a[head] (i - j)^p[head], a > 0, 0 < p < 2",
             .paper = "Chi et al. 2022 (2205.09921)",
             .learned = "two numbers per head, shared by all layers"},
    .make = [](const EncodingArguments&, const EncodingShape& shape, EncodingParameters parameters)
        -> std::unique_ptr<Encoding> { return std::make_unique<KerplePower>(shape, parameters); }};

}  // namespace lengthwise
