#pragma once
/// Attention composed from ordinary tensor operations: the definition of what is right, differentiable by autograd in
/// any floating type, able to show its scores and weights. Quadratic in length; used by tests, by analyses, by
/// generation, and for training with encodings whose scores are not a function of distance alone.
///
///     S_ij = scale <R(i) q_i, R(j) k_j> + table[h, d_ij] + dense[b, h, i, j] + key_bias[b, h, j]
///            + scale (<u_h, k_j> + <R(i) q_i + v_h, r[h, d_ij]>),     0 <= d_ij = position_i - position_j < window
#include <ATen/core/Tensor.h>

#include "kernels/dropout.h"

namespace lengthwise {

/// What an encoding adds to the score of query i and key j. Undefined tensors add nothing.
struct ScoreTerms {
  at::Tensor table;          ///< [head, distance]
  at::Tensor dense;          ///< [batch or 1, head or 1, query, key] over the padded batch
  at::Tensor relative_keys;  ///< r [head, distance, dim] (Shaw, Transformer-XL)
  /// [batch, query, key] int64: the distances that relative_keys go by; undefined: of the positions in PaddedHeads.
  at::Tensor relative_distance;
  at::Tensor content_bias;   ///< u [head, dim]; only with relative_keys
  at::Tensor position_bias;  ///< v [head, dim]; only with relative_keys
  at::Tensor key_bias;       ///< [batch, head, key]: what counts against a key whoever asks; fused: [token, head]
  int64_t window = 0;        ///< keys at this distance or farther are not seen; 0: all are
};

/// Queries and keys of every sequence, padded to the longest.
struct PaddedHeads {
  at::Tensor q;                ///< [batch, head, query, dim], rotated
  at::Tensor k, v;             ///< [batch, head, key, dim], k rotated
  at::Tensor query_positions;  ///< [batch, query] int64
  at::Tensor key_positions;    ///< [batch, key] int64; the distance of a query and a key is their difference
  at::Tensor allowed;          ///< [batch, 1, query, key] bool: causal and not padding
};

struct AttentionView {
  at::Tensor out;      ///< [batch, head, query, dim]
  at::Tensor scores;   ///< [batch, head, query, key] before the softmax, -inf where not allowed
  at::Tensor weights;  ///< [batch, head, query, key] after the softmax, before dropout
};

/// `mask` multiplies the weights (dropout) and may be undefined.
AttentionView plain_attention(const PaddedHeads& heads, const ScoreTerms& terms, double scale, const at::Tensor& mask);

/// [batch, 1, query, key] bool: what is allowed and inside the window.
at::Tensor seen_keys(const PaddedHeads& heads, int64_t window);

/// Rotates the pairs (2c, 2c+1) of the first 2 * pair dims. x [..., token, dim]; cos, sin [token, pair] broadcast.
at::Tensor plain_rotate(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin);

}  // namespace lengthwise
