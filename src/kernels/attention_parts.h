#pragma once
/// The two halves of plain attention behind the products of queries and keys, for attention that compares them in a way
/// of its own.
#include "kernels/plain_attention.h"

namespace lengthwise {

/// Scores [batch, head, query, key] with what the terms say, but for content_bias. Keys that are not allowed have any
/// number.
at::Tensor add_terms(at::Tensor scores, const PaddedHeads& heads, const ScoreTerms& terms, double scale);

/// The softmax of such scores over the keys that are allowed and inside the window. `mask` multiplies the weights and
/// may be undefined.
AttentionView softmax_attention(const at::Tensor& scores, const PaddedHeads& heads, int64_t window,
                                const at::Tensor& mask);

}  // namespace lengthwise
