#include <ATen/ATen.h>

#include <cmath>

#include "positional/entry.h"
#include "positional/trained_length.h"

namespace lengthwise {
namespace {

/// Scores grow with the number of keys a query sees, so that attention does not flatten:
///
///     S_ij times max(least, ln(i + 1) / ln(trained))
///
/// 1 at the end of a sequence as long as those of training. The first token, which sees itself alone, has 0. For models
/// that were trained without it, `least=1` leaves what they know. Some codes take the length of the sequence for n,
/// which in training is no more than a constant; ours is the query's own i + 1.
class LogN : public Encoding {
 public:
  LogN(const EncodingArguments& arguments, const EncodingShape& shape)
      : log_trained_(std::log(static_cast<double>(trained_length(arguments, shape)))),
        least_(arguments.number("least", 0, 1000)),
        heads_(shape.heads),
        type_(shape.type) {}

  LayerValues layer(int64_t, const EncodingContext& context) const override {
    const at::Tensor logs = at::log1p(context.positions.to(at::kDouble)) / log_trained_;
    LayerValues values;
    values.query_scale = logs.clamp_min(least_).to(type_).unsqueeze(1).expand({-1, heads_});
    return values;
  }

 private:
  double log_trained_, least_;
  int64_t heads_;
  at::ScalarType type_;
};

}  // namespace

extern const EncodingEntry log_n_encoding{
    .info = {.name = "log-n",
             .label = "log-n",
             .family = "temperature",
             .formula = "S_ij times ln(i + 1) / ln(trained)",
             .paper = "Chiang and Cholak 2022 (2202.12172)",
             .translation_invariant = false,
             .aliases = {"logn"}},
    .options = {trained_option(), {"least", "0", "the factor is not less; 1 for models trained without it"}},
    .make = [](const EncodingArguments& arguments, const EncodingShape& shape,
               EncodingParameters) -> std::unique_ptr<Encoding> { return std::make_unique<LogN>(arguments, shape); }};

}  // namespace lengthwise
