#pragma once
/// The matrix products of kernels/products.h made here, for processors where that is faster than by torch's libraries:
/// those of the ARM family, with float operands, and with bfloat16 ones where the processor multiplies them.
///
/// A weight is kept in panels, the order in which products read it (kernels/product_tile.h), made anew once after every
/// step of the optimizer: nothing is laid out, dispatched or looked up while products run. Rows are dealt to the
/// threads, of a weight's gradient its rows or columns; every sum has one order, so results do not depend on the thread
/// count nor on the other rows of the batch.
#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lengthwise {

/// Whether products of operands of this type are made here on this machine.
bool has_panel_products(at::ScalarType type);

/// How many elements the panels of a right operand [depth, columns] have.
int64_t panels_size(int64_t depth, int64_t columns, at::ScalarType type);

/// The panels of w [in, out], float, or of its transpose, rounded to the type of `panels`.
void fill_panels(const at::Tensor& w, bool transposed, at::Tensor& panels);

/// y [row, column] = x [row, depth] times the operand in panels. The rows of x may be farther apart than they are long.
void multiply_panels(const at::Tensor& x, const at::Tensor& panels, at::Tensor& y);

/// gradient [in, out] += x^T dy, x [row, in], dy [row, out], likewise; the gradient is float and contiguous.
void add_gradient_by_panels(const at::Tensor& x, const at::Tensor& dy, at::Tensor& gradient);

}  // namespace lengthwise
