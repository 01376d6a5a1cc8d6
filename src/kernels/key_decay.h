#pragma once
/// A decay by key that columns of the query-key-value product decide (positional/encoding.h: KeyDecay), added up within
/// each sequence of a packed batch:
///
///     b_jh = sum over s <= j of softplus(-sign (x_sh + c_h)),   softplus(z) = ln(1 + e^z)
///
/// which is what attention adds to the scores of a key (kernels/attention.h). Sums are double, in one order whatever
/// the thread count.
#include <ATen/core/Tensor.h>

namespace lengthwise {

struct DecayInputs {
  at::Tensor columns;   ///< x [token, head], with any stride from token to token; bfloat16 beside floats too
  at::Tensor offsets;   ///< [sequence + 1] int64
  at::Tensor constant;  ///< c [head]
  double sign = 1;
};

/// bias [token, head], contiguous.
void key_decay_forward(const DecayInputs& in, at::Tensor& bias);

/// d_columns [token, head] is written whole, with any stride; d_constant [head] is added to.
void key_decay_backward(const DecayInputs& in, const at::Tensor& d_bias, at::Tensor& d_columns, at::Tensor& d_constant);

}  // namespace lengthwise
