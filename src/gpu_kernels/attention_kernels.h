#pragma once
/// The ways of attention, private to attention.cu: each runs what its name says and checks nothing.
#include "gpu_kernels/attention.h"

namespace lengthwise::gpu {

/// bfloat16, whole sequences of up to kSmallAttention tokens in a block. table_parts [sequence, head, longest].
inline constexpr int64_t kSmallAttention = 64;
void small_attention_forward(const Attention& args, void* out, float* log_sum, cudaStream_t stream);
void small_attention_backward(const Attention& args, const AttentionGradients& gradients, cudaStream_t stream);

/// bfloat16, tiles of a plan. `slots` blocks a head share the tiles when the table learns: table_parts [slot, head,
/// longest].
void tiled_attention_forward(const Attention& args, void* out, float* log_sum, cudaStream_t stream);
void tiled_attention_backward(const Attention& args, const AttentionGradients& gradients, int64_t slots,
                              cudaStream_t stream);

/// float, tiles of a plan.
void float_attention_forward(const Attention& args, float* out, float* log_sum, cudaStream_t stream);
void float_attention_backward(const Attention& args, const AttentionGradients& gradients, int64_t slots,
                              cudaStream_t stream);

/// The most tiles a plan can have.
int64_t plan_capacity(const Attention& shape, int64_t tile);

}  // namespace lengthwise::gpu
