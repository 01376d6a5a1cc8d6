#pragma once
/// Causal attention within each sequence of a packed batch, fused on the CPU.
///
///     S_ij = scale f_ih <R(i) q_i, K(j) k_j> + table[h, i - j] + b_jh + D_hij
///                                                                for i - window < j <= i within a sequence
///     O_i  = sum_j dropout(softmax_j(S_ij)) v_j
///
/// Scores live only in a tile of a few queries by the keys before them, so memory grows linearly in tokens. The
/// backward pass recomputes them from the logarithm of the softmax's denominator. Results do not depend on the thread
/// count. The plain twin is kernels/plain_attention.h; tests hold the two together in value and gradient.
///
/// float, double, and bfloat16 in memory with float arithmetic (kernels/storage.h): then qkv, out and their gradients
/// are bfloat16, and log_sum, cos, sin, table and its gradient are float. Distances are differences of index within a
/// sequence, so positions must be consecutive there.
#include <ATen/core/Tensor.h>

#include "kernels/dropout.h"

namespace lengthwise {

struct AttentionInputs {
  at::Tensor qkv;      ///< [token, 3 * head * dim]: queries, keys, values; rows may be farther apart than they are long
  at::Tensor offsets;  ///< [sequence + 1] int64, offsets[0] = 0, the last = tokens
  int64_t heads = 1;
  double scale = 1;
  at::Tensor cos, sin;  ///< [token, pair]: rotates the pairs (2c, 2c+1) of the first 2 * pair dims; undefined: none
  at::Tensor table;     ///< [head, distance], at least as many distances as the longest sequence; undefined: none
  Dropout dropout;      ///< row = token * heads + head, column = key's index in its sequence
  at::Tensor key_cos = {}, key_sin = {};  ///< of the keys, as many pairs; undefined: as the queries
  at::Tensor query_scale = {};            ///< f [token, head]; undefined: 1
  at::Tensor key_bias = {};               ///< b [token, head]; undefined: none
  int64_t window = 0;                     ///< the work is proportional to it; 0: all keys before the query
  /// D [sequence or 1, head, place, place], at least as many places as the longest sequence has; undefined: none
  at::Tensor dense = {};
};

/// out [token, head * dim] and log_sum [token, head] are written whole.
void attention_forward(const AttentionInputs& inputs, at::Tensor& out, at::Tensor& log_sum);

/// Undefined tensors are not wanted.
struct AttentionGradients {
  at::Tensor qkv;                    ///< with rows as far apart as those of the input; written whole
  at::Tensor query_scale, key_bias;  ///< written whole
  at::Tensor table, dense;           ///< added to
};

void attention_backward(const AttentionInputs& inputs, const at::Tensor& log_sum, const at::Tensor& d_out,
                        AttentionGradients& gradients);

}  // namespace lengthwise
