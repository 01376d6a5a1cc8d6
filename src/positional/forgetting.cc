#include "positional/forgetting.h"

#include <ATen/ATen.h>

#include <cmath>

namespace lengthwise {

Forgetting::Forgetting(double sign, const EncodingArguments& arguments, const EncodingShape& shape,
                       EncodingParameters parameters)
    : sign_(sign), gates_{shape.heads, 1.0 / std::sqrt(static_cast<double>(shape.width))} {
  const Initial start = Initial::all(arguments.number("bias", -1e6, 1e6));
  for (int64_t index = 0; index < shape.layers; ++index) {
    bias_.push_back(&parameters.add(fmt::format("{}.bias", index), {shape.heads}, start, /*decay=*/false));
  }
}

LayerValues Forgetting::layer(int64_t index, const EncodingContext& context) const {
  LayerValues values;
  if (!context.key_features.defined()) return values;  // who asks adds up the decay
  const at::Tensor gates = context.key_features + bias_[static_cast<size_t>(index)]->value;
  values.key_bias = -at::log_sigmoid(sign_ * gates).cumsum(1).transpose(1, 2);
  return values;
}

std::optional<KeyDecay> Forgetting::decay(int64_t layer) const {
  const at::Tensor& bias = bias_[static_cast<size_t>(layer)]->value;
  return KeyDecay{bias.view_as(bias), sign_};
}

std::vector<NormalBlock> Forgetting::features(int64_t) const {
  return {gates_};
}

}  // namespace lengthwise
