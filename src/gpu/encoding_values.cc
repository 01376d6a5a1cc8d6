#include "gpu/encoding_values.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>

#include "kernels/one_thread.h"

namespace lengthwise {
bool EncodingValues::addition_learns() const {
  return addition.defined() && addition.requires_grad();
}

bool EncodingValues::scales_learn() const {
  return std::any_of(layers.entries.begin(), layers.entries.end(), [](const LayerValues& values) {
    return values.query_scale.defined() && values.query_scale.requires_grad();
  });
}

bool EncodingValues::learns() const {
  return addition_learns() || layers.any_learns() || scales_learn();
}

EncodingValues encoding_values(const Decoder& decoder, int64_t positions, int64_t distances, const LayerNoise& noise) {
  const Encoding& encoding = decoder.encoding();
  const at::Tensor places =
      at::arange(positions, at::TensorOptions(decoder.parameters().values().device()).dtype(at::kLong));
  EncodingValues values;
  values.addition = encoding.embedding_addition(places);
  if (values.addition.defined()) values.addition = values.addition.contiguous();
  EncodingContext context;
  context.positions = places;
  context.distances = distances;
  values.layers = fused_values(encoding, decoder.config().layers, std::move(context), noise);
  return values;
}

void encoding_backward(Decoder& decoder, const EncodingValues& values, const at::Tensor& d_addition,
                       const std::vector<at::Tensor>& d_tables, const std::vector<at::Tensor>& d_scales) {
  std::vector<at::Tensor> outputs, gradients;
  if (values.addition_learns()) {
    outputs.push_back(values.addition);
    gradients.push_back(d_addition);
  }
  const auto add = [&](const at::Tensor& value, const at::Tensor& gradient) {
    if (!gradient.defined()) return;
    outputs.push_back(value);
    gradients.push_back(gradient);
  };
  for (size_t entry = 0; entry < values.layers.entries.size(); ++entry) {
    add(values.layers.entries[entry].table, d_tables[entry]);
    add(values.layers.entries[entry].query_scale, d_scales[entry]);
  }
  if (outputs.empty()) return;
  std::vector<const Parameter*> parameters;
  std::vector<at::Tensor> inputs;
  for (const Parameter* parameter : decoder.encoding_parameters()) {
    parameters.push_back(parameter);
    inputs.push_back(parameter->value);
  }
  const OneThread one_thread;
  const std::vector<at::Tensor> results =
      torch::autograd::grad(outputs, inputs, gradients, /*retain_graph=*/std::nullopt, /*create_graph=*/false,
                            /*allow_unused=*/true);
  at::NoGradGuard no_grad;
  for (size_t i = 0; i < results.size(); ++i) {
    at::Tensor gradient = parameters[i]->gradient;
    if (results[i].defined()) gradient.copy_(results[i]);
  }
}

}  // namespace lengthwise
