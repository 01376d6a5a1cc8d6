#pragma once
/// The two halves of the tiled backward pass, private to it: first d_q, which also leaves delta, then d_k and d_v.
#include "gpu_kernels/attention.h"

namespace lengthwise::gpu {

void tiled_attention_queries(const Attention& args, const AttentionGradients& gradients, int64_t slots,
                             cudaStream_t stream);
void tiled_attention_keys(const Attention& args, const AttentionGradients& gradients, cudaStream_t stream);

}  // namespace lengthwise::gpu
