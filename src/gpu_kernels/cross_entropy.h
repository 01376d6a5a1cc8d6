#pragma once
/// Softmax cross-entropy at the rows of targets, with its gradient in the same pass.
///
///     losses[r] = log sum_c exp(logits[r, c]) - logits[r, targets[r]]
///     best[r]   = the column of the largest logit, the first of equals
///     d_logits[r, c] = weight * (softmax(logits[r])[c] - [c = targets[r]])
///
/// logits [row, stride] of which the first `vocabulary` columns count; the columns behind them get gradient 0. d_logits
/// has the same stride and may be the logits themselves when both are stored alike. Rows from *rows on get loss 0, best
/// -1 and gradient 0. Where the rows are a piece of more, whose logits do not exist all at once, `first` says which row
/// of all is the piece's row 0, and *rows counts all; every pointer is to the piece. The sum of losses is made by the
/// optimizer (optimizer.h) in a fixed order.
///
/// Logits are read once from memory (rows of up to 1,024 columns by a warp, longer ones by a block that finds them in
/// the L2 cache the second time) and gradients written once.
#include "gpu_kernels/launch.h"

namespace lengthwise::gpu {

struct CrossEntropy {
  Storage logits_storage = Storage::float32;
  const void* logits = nullptr;
  int64_t capacity = 0;
  int64_t vocabulary = 0;
  int64_t stride = 0;  ///< a multiple of 4
  int64_t first = 0;
  const int32_t* rows = nullptr;  ///< device: the real count; nullptr: all
  const int32_t* targets = nullptr;
  const float* weight = nullptr;  ///< device
  float* losses = nullptr;        ///< [capacity]
  int32_t* best = nullptr;        ///< [capacity], or nullptr
  Storage d_storage = Storage::float32;
  void* d_logits = nullptr;  ///< nullptr: no gradient
};

void cross_entropy(const CrossEntropy& args, cudaStream_t stream);

}  // namespace lengthwise::gpu
