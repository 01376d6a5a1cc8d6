#include "kernels/dropout.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>

namespace lengthwise {

at::Tensor dropout_mask(const Dropout& dropout, int64_t rows, int64_t columns, const at::TensorOptions& options) {
  if (!dropout.active()) return at::ones({rows, columns}, options);
  at::Tensor mask = at::empty({rows, columns}, at::TensorOptions().dtype(at::kDouble));
  auto* out = mask.data_ptr<double>();
  const double scale = dropout.scale();
  const uint32_t threshold = dropout.threshold();
  for (int64_t row = 0; row < rows; ++row) {
    const uint32_t row_key = dropout_row(dropout.seed, static_cast<uint64_t>(row));
    for (int64_t column = 0; column < columns; ++column) {
      *out++ = dropout_bits(row_key, static_cast<uint32_t>(column)) >= threshold ? scale : 0.0;
    }
  }
  return mask.to(options);
}

}  // namespace lengthwise
