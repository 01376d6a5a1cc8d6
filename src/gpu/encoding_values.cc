#include "gpu/encoding_values.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>

#include "kernels/one_thread.h"
#include "model/streams.h"

namespace lengthwise {
bool EncodingValues::addition_learns() const {
  return addition.defined() && addition.requires_grad();
}

bool EncodingValues::scales_learn() const {
  return std::any_of(layers.entries.begin(), layers.entries.end(), [](const LayerValues& values) {
    return values.query_scale.defined() && values.query_scale.requires_grad();
  });
}

bool EncodingValues::pairs_learn() const {
  return std::any_of(layers.entries.begin(), layers.entries.end(),
                     [](const LayerValues& values) { return values.dense.defined() && values.dense.requires_grad(); });
}

bool EncodingValues::learns() const {
  return addition_learns() || layers.any_learns() || scales_learn() || pairs_learn() ||
         std::any_of(decays.begin(), decays.end(), [](const auto& decay) { return decay.has_value(); });
}

namespace {

EncodingValues values_for(const Decoder& decoder, EncodingContext context, const LayerNoise& noise) {
  const Encoding& encoding = decoder.encoding();
  EncodingValues values;
  values.addition = encoding.addition(context);
  if (values.addition.defined()) values.addition = values.addition.contiguous();
  values.layers = fused_values(encoding, decoder.config().layers, std::move(context), noise, /*adds_decays=*/true);
  for (LayerValues& entry : values.layers.entries) make_dense(entry, decoder.config().heads, at::kFloat);
  for (int64_t layer = 0; layer < decoder.config().layers; ++layer) values.decays.push_back(encoding.decay(layer));
  return values;
}

}  // namespace

bool values_by_token(const Decoder& decoder, bool from_zero) {
  return decoder.goes_by_rules() || (decoder.goes_by_pairs() && !from_zero);
}

EncodingValues encoding_values(const Decoder& decoder, int64_t positions, int64_t distances, const LayerNoise& noise) {
  const auto options = at::TensorOptions(decoder.parameters().values().device()).dtype(at::kLong);
  EncodingContext context = context_of(decoder, at::arange(positions, options), {});
  context.distances = distances;
  if (decoder.goes_by_pairs()) {
    context.query_positions = context.key_positions = at::arange(distances, options).unsqueeze(0);
    for (PositionStream& stream : context.streams)
      stream.query_positions = stream.key_positions = unplaced(stream.rule, context.query_positions);
  }
  return values_for(decoder, std::move(context), noise);
}

EncodingValues token_values(const Decoder& decoder, EncodingContext context, const LayerNoise& noise) {
  EncodingValues values = values_for(decoder, std::move(context), noise);
  values.by_token = true;
  return values;
}

void encoding_backward(Decoder& decoder, const EncodingValues& values, const EncodingGradients& given) {
  std::vector<at::Tensor> outputs, gradients;
  const auto add = [&](const at::Tensor& value, const at::Tensor& gradient) {
    if (!gradient.defined()) return;
    outputs.push_back(value);
    gradients.push_back(gradient);
  };
  add(values.addition, given.addition);
  for (size_t entry = 0; entry < values.layers.entries.size(); ++entry) {
    const LayerValues& stated = values.layers.entries[entry];
    add(stated.table, given.tables[entry]);
    add(stated.query_scale, given.scales[entry]);
    add(stated.dense, given.dense[entry]);
  }
  for (size_t layer = 0; layer < values.decays.size(); ++layer) {
    if (values.decays[layer]) add(values.decays[layer]->constant, given.constants[layer]);
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
  std::vector<at::Tensor> to, from;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i].defined()) continue;
    to.push_back(parameters[i]->gradient);
    from.push_back(results[i]);
  }
  // Many small ones, with forgetting a dozen, in one launch.
  if (!to.empty()) at::_foreach_copy_(to, from);
}

}  // namespace lengthwise
