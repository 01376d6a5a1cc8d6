#pragma once
/// The parts of the tiled backward pass, private to it: first d_q, which also leaves delta, then d_k and d_v, and the
/// gradient of biases of pairs where all sequences share them (that of others comes with d_q).
#include "gpu_kernels/attention.h"

namespace lengthwise::gpu {

/// The most tokens of a sequence whose gradients of queries find room in shared memory, and the fewest with which that
/// was found to pay.
inline constexpr int64_t kWholeAttention = 512;
inline constexpr int64_t kLeastWholeAttention = 257;

void tiled_attention_queries(const Attention& args, const AttentionGradients& gradients, int64_t slots,
                             cudaStream_t stream);
void tiled_attention_keys(const Attention& args, const AttentionGradients& gradients, cudaStream_t stream);
/// All but the gradient of biases of pairs at once, for what runs_whole() says: a block has a whole sequence of a head.
/// It does not leave delta, which tiled_attention_pairs wants.
/// has_whole_shape() is that of it which does not ask what is in the scores: a table's gradient has a part for each
/// sequence then, and one more where that is an even number, whoever makes it.
bool has_whole_shape(const Attention& shape);
bool runs_whole(const Attention& args);
void whole_attention_backward(const Attention& args, const AttentionGradients& gradients, cudaStream_t stream);
void tiled_attention_pairs(const Attention& args, const AttentionGradients& gradients, cudaStream_t stream);
/// The same out of gradients of scores that were written down.
void attention_pair_sums(const Attention& args, const AttentionGradients& gradients, cudaStream_t stream);

}  // namespace lengthwise::gpu
