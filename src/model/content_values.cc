#include "model/content_values.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include "positional/fused_values.h"

namespace lengthwise {

ContentValues content_values(const Encoding& encoding, int64_t layer, EncodingContext context, const Padding& padding,
                             const at::Tensor& columns, int64_t heads, at::ScalarType type) {
  ContentValues content;
  content.features = columns.to(type, /*non_blocking=*/false, /*copy=*/true).requires_grad_(true);
  context.query_features = context.key_features = padding.padded(content.features);
  content.values = encoding.layer(layer, context);
  make_fused(content.values, layer, columns.device());
  at::Tensor& bias = content.values.key_bias;
  if (bias.defined()) bias = padding.packed(bias.transpose(1, 2));
  make_dense(content.values, heads, type);
  return content;
}

at::Tensor content_backward(const ContentValues& content, const StatedGradients& gradients) {
  std::vector<at::Tensor> stated, given;
  const auto add = [&](const at::Tensor& value, const at::Tensor& gradient) {
    if (!value.defined() || !value.requires_grad() || !gradient.defined()) return;
    stated.push_back(value);
    given.push_back(gradient);
  };
  add(content.values.table, gradients.table);
  add(content.values.query_scale, gradients.query_scale);
  add(content.values.key_bias, gradients.key_bias);
  add(content.values.dense, gradients.dense);
  if (!stated.empty()) torch::autograd::backward(stated, given);
  const at::Tensor& gradient = content.features.grad();
  return gradient.defined() ? gradient : at::zeros_like(content.features);
}

}  // namespace lengthwise
