#include <ATen/ATen.h>

#include <cmath>

#include "core/error.h"
#include "positional/entry.h"
#include "positional/formulas.h"

namespace lengthwise {
namespace {

/// Distances beyond this share their vector, as in the study.
constexpr int64_t kFarthest = 1000;

/// Per layer a projection R of sinusoidal distance vectors and two biases per head:
///     S_ij = scale (<q_i + u, k_j> + <q_i + v, R(i - j)>)
class TransformerXl : public Encoding {
 public:
  TransformerXl(const EncodingShape& shape, EncodingParameters parameters) : shape_(shape) {
    if (shape.width % 2 != 0) fail("the Transformer-XL encoding needs an even --width, not {}", shape.width);
    const double deviation = 1.0 / std::sqrt(static_cast<double>(shape.width));
    for (int64_t layer = 0; layer < shape.layers; ++layer) {
      const std::string prefix = fmt::format("{}.", layer);
      Layer weights{};
      weights.projection =
          &parameters.add(prefix + "relative", {shape.width, shape.heads * shape.head_dim}, Initial::normal(deviation));
      weights.content_bias =
          &parameters.add(prefix + "content_bias", {shape.heads, shape.head_dim}, Initial::normal(0.2), false);
      weights.position_bias =
          &parameters.add(prefix + "position_bias", {shape.heads, shape.head_dim}, Initial::normal(0.2), false);
      layers_.push_back(weights);
    }
  }

  LayerValues layer(int64_t layer, const EncodingContext& context) const override {
    const int64_t distances = context.distances;
    const Layer& weights = layers_[static_cast<size_t>(layer)];
    const at::Tensor clamped =
        at::arange(distances, weights.projection->value.options().dtype(at::kLong).requires_grad(false))
            .clamp_max(kFarthest);
    at::Tensor vectors = sinusoids(clamped, shape_.width).to(shape_.type);
    if (context.noise.drops()) vectors = vectors * context.noise.mask(distances, shape_.width, vectors.options());
    LayerValues values;
    values.relative_keys =
        at::matmul(vectors, weights.projection->value).view({distances, shape_.heads, shape_.head_dim}).transpose(0, 1);
    values.content_bias = weights.content_bias->value;
    values.position_bias = weights.position_bias->value;
    return values;
  }

  int64_t variant(int64_t layer) const override { return layer; }
  bool random() const override { return true; }

 private:
  struct Layer {
    Parameter *projection, *content_bias, *position_bias;
  };

  EncodingShape shape_;
  std::vector<Layer> layers_;
};

}  // namespace

extern const EncodingEntry transformer_xl_encoding{
    .info = {.name = "transformer-xl",
             .label = "Transformer-XL",
             .family = "bias",
             .formula = "S_ij = <q_i + u, k_j> + <q_i + v, R sinusoid(i - j)>",
             .paper = "Dai et al. 2019 (1901.02860)",
             .learned = "per layer: width x width and 2 x heads x head-dim"},
    .make = [](const EncodingArguments&, const EncodingShape& shape, EncodingParameters parameters)
        -> std::unique_ptr<Encoding> { return std::make_unique<TransformerXl>(shape, parameters); }};

}  // namespace lengthwise
