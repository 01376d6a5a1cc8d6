#pragma once
/// The small fused passes of the decoder on the CPU, float, double, or bfloat16 in memory with float arithmetic
/// (kernels/storage.h): then branches, normed values, hidden values and their gradients are bfloat16, while the
/// residual stream (x, sum, d_sum), statistics, gains, embeddings and logits are float. Row loops run in parallel; sums
/// over rows are made in a fixed order whatever the thread count. x, y ... are [row, width], contiguous.
#include <ATen/core/Tensor.h>

#include "kernels/dropout.h"

namespace lengthwise {

inline constexpr double kNormEpsilon = 1e-6;

/// sum = x + dropout(branch) (branch undefined: sum = x, not copied when they are the same tensor);
/// normed = sum * inverse * gain with inverse = 1 / sqrt(mean(sum^2) + 1e-6) (RMSNorm, Zhang & Sennrich 2019; `inverse`
/// is what is elsewhere called the reciprocal standard deviation, rstd).
void add_norm_forward(const at::Tensor& x, const at::Tensor& branch, const Dropout& dropout, const at::Tensor& gain,
                      at::Tensor& sum, at::Tensor& inverse, at::Tensor& normed);

/// d_sum += gradient through the norm; then d_branch = d_sum * mask where d_branch is defined.
/// d_gain is added to.
void add_norm_backward(const at::Tensor& d_normed, const at::Tensor& sum, const at::Tensor& inverse,
                       const at::Tensor& gain, const Dropout& dropout, at::Tensor& d_sum, at::Tensor& d_branch,
                       at::Tensor& d_gain);

/// y = dropout(x), also in place.
void dropout_forward(const at::Tensor& x, const Dropout& dropout, at::Tensor& y);

/// In place: x = dropout(max(x, 0)).
void relu_dropout_forward(at::Tensor& x, const Dropout& dropout);

/// In place on dy: the gradient through relu_dropout_forward whose result was y. A result of 0 passes nothing, whether
/// the rectifier or the dropout made it 0, so no mask is needed.
void relu_dropout_backward(const at::Tensor& y, const Dropout& dropout, at::Tensor& dy);

/// x[t] = table[tokens[t]] (+ addition[t]) then dropout.
void embed_forward(const at::Tensor& table, const at::Tensor& tokens, const at::Tensor& addition,
                   const Dropout& dropout, at::Tensor& x);

/// In place: dx through the dropout (this is also the gradient of the addition); d_table[tokens[t]] += dx[t].
void embed_backward(const at::Tensor& tokens, const Dropout& dropout, at::Tensor& dx, at::Tensor& d_table);

/// Softmax cross-entropy per row, in place: losses[r] = -log softmax(logits[r])[targets[r]], best[r] = argmax (the
/// first of equals). With scale > 0 the logits become scale * (softmax - one-hot), the gradient of scale * sum(losses).
void cross_entropy(at::Tensor& logits, const at::Tensor& targets, double scale, at::Tensor& losses, at::Tensor& best);

}  // namespace lengthwise
