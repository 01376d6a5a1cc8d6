#pragma once
/// One step of the fused engine, between its forward and its backward pass. Private to model/cpu_engine*.cc.
#include <optional>
#include <vector>

#include "kernels/products.h"
#include "model/content_values.h"
#include "model/cpu_engine.h"
#include "positional/fused_values.h"

namespace lengthwise {

/// What a forward pass leaves for the backward pass besides the activations.
struct CpuEngine::Step {
  const Batch& batch;
  const StepDropout& dropout;
  at::Tensor addition;  ///< from the encoding, with its autograd history
  FusedValues values;
  std::vector<std::optional<KeyDecay>> decays;  ///< by layer: where its own columns are a decay of keys and no more
  std::vector<ContentValues> content;           ///< by layer; empty where it has no other columns of its own
  std::vector<AttentionInputs> attention;
  at::Tensor h, inverse, rows, d_rows;
  std::optional<Padding> padding;  ///< where a layer's content is read
};

/// Adds the weight gradient of y = x W.
inline void learn_product(const at::Tensor& x, const at::Tensor& dy, const Parameter* parameter) {
  at::Tensor gradient = parameter->gradient;
  add_weight_gradient(x, dy, gradient);
}

}  // namespace lengthwise
