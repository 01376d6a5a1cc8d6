#include "positional/encoding.h"

#include <ATen/ATen.h>

#include <cmath>

namespace lengthwise {

at::Tensor Encoding::embedding_addition(const at::Tensor&) const {
  return {};
}

Rotation Encoding::rotation(const at::Tensor&) const {
  return {};
}

ScoreTerms Encoding::score_terms(int64_t, int64_t, const StepNoise&) const {
  return {};
}

at::Tensor Encoding::dense_bias(const at::Tensor&, const at::Tensor&, int64_t) const {
  return {};
}

at::Tensor geometric_frequencies(int64_t width, double base, at::Device device) {
  const at::Tensor exponents =
      at::arange(0, width, 2, at::TensorOptions(device).dtype(at::kDouble)) / static_cast<double>(width);
  return at::exp(exponents * -std::log(base));
}

at::Tensor sinusoids(const at::Tensor& positions, int64_t width) {
  const at::Tensor angles =
      positions.to(at::kDouble).unsqueeze(-1) * geometric_frequencies(width, 10000.0, positions.device());
  return at::cat({at::sin(angles), at::cos(angles)}, -1);
}

}  // namespace lengthwise
