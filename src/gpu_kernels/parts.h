#pragma once
/// A step whose batch is taken in parts: what the parts have in common is summed here, and the optimizer reads the
/// sums.
///
///     sums = g of the first part, then sums += g
///
/// in float, in the order of the parts; g as a backward pass leaves it, its first `rounded` numbers in bfloat16. The
/// losses and counts of the part are added to those in the StepState, and its `part` advances; the optimizer, with
/// `in_parts`, sets it back. One launch. Bytes per parameter: 12, where the gradient is bfloat16 10; 4 less for the
/// first part.
#include "gpu_kernels/launch.h"
#include "gpu_kernels/step_state.h"

namespace lengthwise::gpu {

struct AddPart {
  int64_t count = 0;  ///< parameters; a multiple of 4
  const float* gradients = nullptr;
  const void* rounded_gradients = nullptr;  ///< [rounded] bfloat16: stand for the first of `gradients`
  int64_t rounded = 0;                      ///< a multiple of 4
  float* sums = nullptr;                    ///< [count]
  const float* losses = nullptr;            ///< [targets]: the real ones are summed
  StepState* state = nullptr;
};

void add_part(const AddPart& args, cudaStream_t stream);

}  // namespace lengthwise::gpu
