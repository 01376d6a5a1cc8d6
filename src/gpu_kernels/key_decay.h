#pragma once
/// A decay by key that columns of the query-key-value product decide (positional/encoding.h: KeyDecay), summed up
/// within each sequence of a packed batch:
///
///     b_jh = sum over s <= j of softplus(-sign (x_sh + c_h)),   softplus(z) = ln(1 + e^z)
///
/// which is what attention adds to the scores of a key (attention.h). Sums are float; one warp for each sequence and
/// head, in a fixed order.
#include "gpu_kernels/launch.h"

namespace lengthwise::gpu {

struct KeyDecay {
  Storage storage = Storage::bfloat16;  ///< of the columns
  int64_t token_capacity = 0;
  int64_t sequences = 0;
  int64_t heads = 1;
  const int32_t* offsets = nullptr;  ///< [sequence + 1]
  const void* columns = nullptr;     ///< x [token, head]
  int64_t stride = 0;                ///< elements from one token to the next
  const float* constant = nullptr;   ///< c [head]
  float sign = 1;
};

/// bias [token, head], written where a token belongs to a sequence.
void key_decay_forward(const KeyDecay& args, float* bias, cudaStream_t stream);

struct KeyDecayGradients {
  const float* d_bias = nullptr;    ///< [token, head]
  void* d_columns = nullptr;        ///< [token, head], with the columns' stride; zeros where a token belongs to none
  int64_t filler = 0;               ///< columns behind them, which get zeros
  float* constant_parts = nullptr;  ///< [sequence, head], written whole: its sum over sequences is the constant's
};

void key_decay_backward(const KeyDecay& args, const KeyDecayGradients& gradients, cudaStream_t stream);

}  // namespace lengthwise::gpu
