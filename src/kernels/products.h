#pragma once
/// The matrix products (GEMMs) of the decoder's linear layers on the CPU: float, double, or bfloat16 operands.
///
/// Products of bfloat16 are summed in float; y is rounded once, and gradients stay float. They are made here where that
/// is faster (kernels/panel_products.h), else by torch's libraries. Rows are independent of each other, so a library's
/// bfloat16 product is made over whole blocks of rows (64, or more where there are thousands), whatever the batch's
/// token count: it compiles code for every new shape, and there are then few. Memory behind x and y must therefore
/// reach to the end of the last block (rounded_rows).
#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lengthwise {

constexpr int64_t rounded_rows(int64_t rows) {
  int64_t block = 64;
  while (block * 32 < rows) block *= 2;
  return (rows + block - 1) / block * block;
}

/// A weight w [in, out] as products read it.
struct ProductWeight {
  at::Tensor value;               ///< [in, out], in the type of the operands; undefined where there are panels
  at::Tensor panels, transposed;  ///< of w and of w^T (kernels/panel_products.h), or undefined
};

/// y [row, out] = x [row, in] w.
void multiply(const at::Tensor& x, const ProductWeight& w, at::Tensor& y);

/// y [row, in] = x [row, out] w^T.
void multiply_transposed(const at::Tensor& x, const ProductWeight& w, at::Tensor& y);

/// gradient [in, out] += x^T dy, x [row, in], dy [row, out]; the gradient is float where they are bfloat16.
void add_weight_gradient(const at::Tensor& x, const at::Tensor& dy, at::Tensor& gradient);

}  // namespace lengthwise
