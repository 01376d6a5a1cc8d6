#pragma once
/// What encodings that attend in their own way share. Queries may be any of the tokens whose keys are given: all of
/// them, a block of them, or the newest of each sequence of a cache.
#include "positional/encoding.h"

namespace lengthwise {

/// x [batch, head, key, dim], something of every token, for the tokens of the queries: [batch, head, query, dim].
at::Tensor of_queries(const at::Tensor& x, const PaddedHeads& heads);

/// [batch, 1, query, key] bool: the key is the query's own token. None is in rows of padding.
at::Tensor own_keys(const PaddedHeads& heads);

/// scale <q_i, k_j>: [batch, head, query, key].
at::Tensor content_scores(const PaddedHeads& heads, double scale);

/// Scores of content [batch, head, query, key] with the biases of `values`. Keys by distance, which belong to the usual
/// content, are a UserError.
at::Tensor own_scores(const at::Tensor& content, const PaddedHeads& heads, const LayerValues& values, double scale);

/// A UserError where queries and keys come turned by another encoding of a sum: for those that turn them themselves.
void refuse_rotation(const LayerValues& values);

/// Softmax attention with these scores of content, and the biases and the window of `values`.
AttentionView attend_by(const at::Tensor& content, const PaddedHeads& heads, const LayerValues& values, double scale,
                        const at::Tensor& mask);

/// A causal convolution of each channel: y_t = sum over s of taps[s] x_(t-s), x [batch, token, channel], taps [tap,
/// channel].
at::Tensor short_convolution(const at::Tensor& x, const at::Tensor& taps);

/// [..., key]: the sum over all keys from each one on.
at::Tensor sums_from(const at::Tensor& x);

}  // namespace lengthwise
