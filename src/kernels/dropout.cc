#include "kernels/dropout.h"

#include <ATen/ATen.h>

#include "kernels/step_noise.h"

namespace lengthwise {

at::Tensor dropout_mask(const Dropout& dropout, int64_t rows, int64_t columns, const at::TensorOptions& options) {
  if (!dropout.active()) return at::ones({rows, columns}, options);
  if (!options.device().is_cpu()) {
    const at::Tensor kept = noise_bits(dropout.seed, rows, columns, options.device()) >= int64_t{dropout.threshold()};
    return kept.to(options) * dropout.scale();
  }
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
