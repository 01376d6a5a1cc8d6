#include "gpu/encoding_values.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/AutogradState.h>
#include <torch/csrc/autograd/autograd.h>

namespace lengthwise {
namespace {

/// Keeps the backward pass in this thread.
class OneThread {
 public:
  OneThread() : before_(c10::AutogradState::get_tls_state().get_multithreading_enabled()) {
    c10::AutogradState::get_tls_state().set_multithreading_enabled(false);
  }
  ~OneThread() { c10::AutogradState::get_tls_state().set_multithreading_enabled(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  bool before_;
};

}  // namespace

bool EncodingValues::addition_learns() const {
  return addition.defined() && addition.requires_grad();
}

EncodingValues encoding_values(const Decoder& decoder, int64_t positions, int64_t distances, const LayerNoise& noise) {
  const Encoding& encoding = decoder.encoding();
  const at::Tensor places =
      at::arange(positions, at::TensorOptions(decoder.parameters().values().device()).dtype(at::kLong));
  EncodingValues values;
  values.addition = encoding.embedding_addition(places);
  if (values.addition.defined()) values.addition = values.addition.contiguous();
  values.layers = fused_values(encoding, decoder.config().layers, places, distances, noise);
  return values;
}

void encoding_backward(Decoder& decoder, const EncodingValues& values, const at::Tensor& d_addition,
                       const std::vector<at::Tensor>& d_tables) {
  std::vector<at::Tensor> outputs, gradients;
  if (values.addition_learns()) {
    outputs.push_back(values.addition);
    gradients.push_back(d_addition);
  }
  for (size_t entry = 0; entry < d_tables.size(); ++entry) {
    if (!d_tables[entry].defined()) continue;
    outputs.push_back(values.layers.entries[entry].table);
    gradients.push_back(d_tables[entry]);
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
