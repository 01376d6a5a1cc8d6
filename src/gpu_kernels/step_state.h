#pragma once
/// What changes from step to step, in device memory: one struct that the kernels read and write and the host looks at
/// when it wants to.
///
/// A step is: assemble_batch (counts, weight, seed), forward, backward, and the optimizer (norm, rate, loss; then the
/// step counter advances). Where its batch is taken in parts, the first three come once for each, every time with
/// add_part (parts.h) behind them. Once a loss or a norm is not finite, `flags` says so, `step` stays, and no later
/// update touches the weights: they stay what they were before the bad step.
#include <cstdint>

namespace lengthwise::gpu {

enum StepFlags : uint32_t {
  kNotFinite = 1,  ///< the loss or the norm of the gradient
  kTooLarge = 2,   ///< the batch did not fit the capacity it was assembled for
};

struct StepState {
  int64_t step = 0;           ///< updates made so far; the coming one is number step + 1
  uint64_t dropout_seed = 0;  ///< of this step, or part
  int32_t tokens = 0;         ///< real rows of the batch, or of the part
  int32_t targets = 0;
  float weight = 0;     ///< of each target's loss: 1 / targets, those of all parts
  uint32_t flags = 0;   ///< StepFlags; never cleared by a kernel
  uint32_t ticket = 0;  ///< of the last block of the norm and of add_part; 0 between them
  double norm = 0;      ///< of the gradient, before clipping
  double loss = 0;      ///< mean over the targets
  double lr = 0;
  float gradient_scale = 1;  ///< the factor of clipping
  float rate = 0;            ///< lr sqrt(1 - beta2^t) / (1 - beta1^t)
  float shrink = 0;          ///< lr * weight decay
  int64_t tokens_seen = 0;
  // Of a step in parts; the counts and the sum are those of the parts before.
  int64_t part = 0;  ///< the coming one
  int64_t part_tokens = 0;
  int64_t part_targets = 0;
  double part_losses = 0;  ///< over the targets
};

}  // namespace lengthwise::gpu
