#include "positional/formulas.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

namespace lengthwise {

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

int64_t t5_bucket(int64_t distance, int64_t buckets, int64_t max_distance) {
  const int64_t exact = buckets / 2;
  if (distance < exact) return distance;
  const double ratio = std::log(static_cast<double>(distance) / static_cast<double>(exact)) /
                       std::log(static_cast<double>(max_distance) / static_cast<double>(exact));
  return std::min(buckets - 1, exact + static_cast<int64_t>(std::floor(ratio * static_cast<double>(buckets - exact))));
}

std::vector<double> alibi_slopes(int64_t heads) {
  const auto power_slopes = [](int64_t count) {
    std::vector<double> slopes;
    for (int64_t h = 1; h <= count; ++h) {
      slopes.push_back(std::exp2(-8.0 * static_cast<double>(h) / static_cast<double>(count)));
    }
    return slopes;
  };
  int64_t power = 1;
  while (2 * power <= heads) power *= 2;
  std::vector<double> slopes = power_slopes(power);
  const std::vector<double> finer = power_slopes(2 * power);
  for (size_t h = 0; static_cast<int64_t>(slopes.size()) < heads; h += 2) slopes.push_back(finer[h]);
  return slopes;
}

at::Tensor alibi_table(const at::Tensor& slopes, int64_t distances) {
  return -slopes.unsqueeze(1) * at::arange(distances, slopes.options().requires_grad(false));
}

at::Tensor power_table(const at::Tensor& factor, const at::Tensor& exponent, int64_t distances) {
  const at::Tensor distance = at::arange(distances, factor.options().requires_grad(false));
  return -factor.unsqueeze(1) * at::pow(distance, exponent.unsqueeze(1));
}

}  // namespace lengthwise
