#pragma once
/// The optimizer over the flat arenas: norm, clipping, learning rate and AdamW, all on the device.
///
///     norm  = |g|,  scale = clip / (norm + 1e-6) where clip > 0 and norm > clip, else 1
///     lr    = linear from 0 over `warmup` steps to `peak`, then linear to `end` at `steps`     (train/schedule.h)
///     m = beta1 m + (1 - beta1) scale g;   v = beta2 v + (1 - beta2) (scale g)^2
///     p -= lr sqrt(1 - beta2^t) / (1 - beta1^t) m / (sqrt(v) + eps);   p -= lr decay p  for the first `decayed`
///                                                                                            (kernels/adamw.h)
///
/// Two launches. The first sums squares in double, per block and then over the blocks in order; its last block sums the
/// losses, computes the rates and advances the counter (step_state.h). The second updates. A loss or
/// norm that is not finite sets kNotFinite and leaves everything as it was.
///
/// Bytes per parameter: 4 for the norm; 16 read and 14 written by the update. Where the gradient is bfloat16: 2, and 14
/// and 14; where the value is split too (split_values.h): 2, and 14 and 12.
#include "gpu_kernels/launch.h"
#include "gpu_kernels/step_state.h"

namespace lengthwise::gpu {

/// Blocks of the norm, and how many doubles `sums` holds.
inline constexpr int64_t kNormBlocks = 1056;
/// The same of gradient_squares.
inline constexpr int64_t kSquareBlocks = 264;

struct Optimizer {
  int64_t count = 0;    ///< parameters
  int64_t decayed = 0;  ///< how many at the front are subject to weight decay
  float* values = nullptr;
  const float* gradients = nullptr;
  const void* rounded_gradients = nullptr;  ///< [rounded] bfloat16: stand for the first of `gradients`
  int64_t rounded = 0;                      ///< a multiple of 4
  int64_t squared = 0;                      ///< of them at the front are in `squares` already; a multiple of 4
  const double* squares = nullptr;          ///< [square_count], from gradient_squares
  int64_t square_count = 0;
  float* first = nullptr;  ///< moments
  float* second = nullptr;
  void* mirror = nullptr;  ///< [count] bfloat16 copy of the values, written in the same pass; nullptr: none
  /// [rounded]: with it, the first `rounded` values are this and the mirror (split_values.h), and those of `values` are
  /// neither read nor written. nullptr: none.
  uint16_t* low = nullptr;

  double peak = 0, end = 0;  ///< learning rates
  int64_t steps = 1, warmup = 0;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weight_decay = 0;
  double clip = 0;

  const float* losses = nullptr;  ///< [targets]: the real ones are averaged; nullptr: none
  bool in_parts = false;          ///< the step's losses and counts are those that add_part summed (parts.h)
  double* sums = nullptr;         ///< scratch: kNormBlocks
  StepState* state = nullptr;
};

/// The sum of squares of a part of the bfloat16 gradients, [kSquareBlocks] doubles: for parts that are complete early,
/// while they are still in the cache. `count` is a multiple of 8.
void gradient_squares(const void* rounded_gradients, int64_t count, double* sums, cudaStream_t stream);

void optimizer_step(const Optimizer& args, cudaStream_t stream);

}  // namespace lengthwise::gpu
