#pragma once
/// The matrix products (GEMMs) of the decoder's linear layers on the CPU: float, double, or bfloat16 operands.
///
/// Products of bfloat16 are summed in float; y is rounded once, and gradients stay float. Rows are independent of each
/// other, so a bfloat16 product is made over whole blocks of rows (64, or more where there are thousands), whatever the
/// batch's token count: the library that computes it compiles code for every new shape, and there are then few. Memory
/// behind x and y must therefore reach to the end of the last block (rounded_rows).
#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lengthwise {

constexpr int64_t rounded_rows(int64_t rows) {
  int64_t block = 64;
  while (block * 32 < rows) block *= 2;
  return (rows + block - 1) / block * block;
}

/// y [row, out] = x [row, in] w [in, out].
void multiply(const at::Tensor& x, const at::Tensor& w, at::Tensor& y);

/// y [row, in] = x [row, out] w^T, w [in, out].
void multiply_transposed(const at::Tensor& x, const at::Tensor& w, at::Tensor& y);

/// gradient [in, out] += x^T dy, x [row, in], dy [row, out]; the gradient is float where they are bfloat16.
void add_weight_gradient(const at::Tensor& x, const at::Tensor& dy, at::Tensor& gradient);

}  // namespace lengthwise
