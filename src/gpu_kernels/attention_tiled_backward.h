#pragma once
/// The parts of the tiled backward pass, private to it: first d_q, which also leaves delta, then d_k and d_v, and the
/// gradient of biases of pairs where all sequences share them (that of others comes with d_q).
#include "gpu_kernels/attention.h"

namespace lengthwise::gpu {

void tiled_attention_queries(const Attention& args, const AttentionGradients& gradients, int64_t slots,
                             cudaStream_t stream);
void tiled_attention_keys(const Attention& args, const AttentionGradients& gradients, cudaStream_t stream);
void tiled_attention_pairs(const Attention& args, const AttentionGradients& gradients, cudaStream_t stream);

}  // namespace lengthwise::gpu
