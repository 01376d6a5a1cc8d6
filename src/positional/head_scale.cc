#include <ATen/ATen.h>

#include "positional/head_scales.h"

namespace lengthwise {
namespace {

/// One temperature a head:
///
///     S_ij times s[layer, head]
///
/// The paper trains these alone, in a model without positions whose other weights are frozen, on longer sequences and
/// with a lower bound; here they learn with all weights and without a bound.
class HeadScale : public HeadScales {
 public:
  using HeadScales::HeadScales;

  LayerValues layer(int64_t index, const EncodingContext& context) const override {
    LayerValues values;
    values.query_scale = factors(index, context.positions, context);
    return values;
  }

 private:
  at::Tensor by_position(const at::Tensor& positions, at::ScalarType type) const override {
    return at::ones_like(positions, type);
  }
};

}  // namespace

extern const EncodingEntry head_scale_encoding{
    .info = {.name = "head-scale",
             .label = "Head scale",
             .family = "temperature",
             .formula = "S_ij times s[layer, head]",
             .paper = "Wang et al. 2024 (2404.12224)",
             .learned = "s per layer and head",
             .aliases = {"headscale"}},
    .options = {{"start", "1", "s before training"}},
    .make = [](const EncodingArguments& arguments, const EncodingShape& shape, EncodingParameters parameters)
        -> std::unique_ptr<Encoding> { return std::make_unique<HeadScale>(arguments, shape, parameters); }};

}  // namespace lengthwise
