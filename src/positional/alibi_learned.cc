#include <ATen/ATen.h>

#include <cmath>

#include "positional/registry.h"

namespace lengthwise {
namespace {

/// One logarithm of a slope per head for all layers, so that a slope stays positive.
class LearnedAlibi : public Encoding {
 public:
  LearnedAlibi(const EncodingShape& shape, Parameters& parameters) {
    std::vector<double> logarithms;
    for (const double slope : alibi_slopes(shape.heads)) logarithms.push_back(std::log(slope));
    log_slopes_ = &parameters.add("encoding.log_slopes", {shape.heads}, Initial::given(logarithms));
  }

  const EncodingInfo& info() const override {
    static const EncodingInfo info{.name = "alibi-learned",
                                   .formula = "S_ij -= exp(a[head]) (i - j), a starts at ALiBi's slopes",
                                   .paper = "Kazemnejad et al. 2023, code (2305.19466)",
                                   .learned = "one log-slope per head, shared by all layers"};
    return info;
  }

  ScoreTerms score_terms(int64_t distances, int64_t, const StepNoise&) const override {
    ScoreTerms terms;
    terms.table = alibi_table(log_slopes_->value.exp(), distances);
    return terms;
  }

 private:
  Parameter* log_slopes_;
};

}  // namespace

std::unique_ptr<Encoding> make_learned_alibi(const EncodingConfig&, const EncodingShape& shape,
                                             Parameters& parameters) {
  return std::make_unique<LearnedAlibi>(shape, parameters);
}

}  // namespace lengthwise
