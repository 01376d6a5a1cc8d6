#include <ATen/ATen.h>

#include <cmath>

#include "positional/entry.h"
#include "positional/formulas.h"

namespace lengthwise {
namespace {

/// One logarithm of a slope per head for all layers, so that a slope stays positive.
class LearnedAlibi : public Encoding {
 public:
  LearnedAlibi(const EncodingShape& shape, EncodingParameters parameters) {
    std::vector<double> logarithms;
    for (const double slope : alibi_slopes(shape.heads)) logarithms.push_back(std::log(slope));
    log_slopes_ = &parameters.add("log_slopes", {shape.heads}, Initial::given(logarithms));
  }

  LayerValues layer(int64_t, const EncodingContext& context) const override {
    LayerValues values;
    values.table = alibi_table(log_slopes_->value.exp(), context.distances);
    return values;
  }

 private:
  Parameter* log_slopes_;
};

}  // namespace

extern const EncodingEntry alibi_learned_encoding{
    .info = {.name = "alibi-learned",
             .label = "ALiBi, learned",
             .family = "bias",
             .formula = "S_ij -= exp(a[head]) (i - j), a starts at ALiBi's slopes",
             .paper = "Kazemnejad et al. 2023, code (2305.19466)",
             .learned = "one log-slope per head, shared by all layers"},
    .make = [](const EncodingArguments&, const EncodingShape& shape, EncodingParameters parameters)
        -> std::unique_ptr<Encoding> { return std::make_unique<LearnedAlibi>(shape, parameters); }};

}  // namespace lengthwise
