#include <ATen/ATen.h>

#include "positional/head_scales.h"

namespace lengthwise {
namespace {

/// Scalable softmax, in which e^x becomes n^(s x), n the number of keys a query sees:
///
///     S_ij times s[layer, head] ln(i + 1)
///
/// s starts as in the paper at 0.168, one over the mean of ln n for n to 1,024. Codes disagree: some take the length of
/// the sequence for n, which does not vary in training; one subtracts s ln n from every score, which does nothing. The
/// paper's bias to s ln n is left out, which it says harms longer sequences.
class ScalableSoftmax : public HeadScales {
 public:
  using HeadScales::HeadScales;

  LayerValues layer(int64_t index, const EncodingContext& context) const override {
    const at::Tensor logs = at::log1p(context.positions.to(at::kDouble)).to(scales(index).scalar_type());
    LayerValues values;
    values.query_scale = logs.unsqueeze(1) * scales(index);
    return values;
  }
};

}  // namespace

extern const EncodingEntry ssmax_encoding{
    .info = {.name = "ssmax",
             .label = "SSMax",
             .family = "temperature",
             .formula = "S_ij times s[layer, head] ln(i + 1)",
             .paper = "Nakanishi 2025 (2501.19399)",
             .learned = "s per layer and head",
             .translation_invariant = false,
             .aliases = {"scalable-softmax"}},
    .options = {{"start", "0.168", "s before training; the paper's is 1 / mean of ln n for n to 1024"}},
    .make = [](const EncodingArguments& arguments, const EncodingShape& shape, EncodingParameters parameters)
        -> std::unique_ptr<Encoding> { return std::make_unique<ScalableSoftmax>(arguments, shape, parameters); }};

}  // namespace lengthwise
