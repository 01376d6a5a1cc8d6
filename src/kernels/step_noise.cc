#include "kernels/step_noise.h"

#include <ATen/ATen.h>

#include "core/error.h"
#include "kernels/dropout.h"

namespace lengthwise {
namespace {

// Tensors have no unsigned integers of 64 bits. Sums and products of signed ones have the same bits; shifts to the
// right must be told to bring zeros.

int64_t as_signed(uint64_t x) {
  return static_cast<int64_t>(x);
}

at::Tensor shifted(const at::Tensor& x, int64_t by) {
  return x.bitwise_right_shift(by).bitwise_and(as_signed(~uint64_t{0} >> by));
}

at::Tensor folded(const at::Tensor& x, int64_t by) {
  return x.bitwise_xor(shifted(x, by));
}

at::Tensor low_half(const at::Tensor& x) {
  return x.bitwise_and(int64_t{0xffffffff});
}

/// core/rng.h.
at::Tensor mix64_of(at::Tensor x) {
  x = folded(x, 30) * as_signed(0xbf58476d1ce4e5b9ull);
  x = folded(x, 27) * as_signed(0x94d049bb133111ebull);
  return folded(x, 31);
}

/// dropout_row (kernels/dropout.h).
at::Tensor row_keys(const at::Tensor& seed, const at::Tensor& rows) {
  at::Tensor x = seed + (rows + 1) * as_signed(0x9e3779b97f4a7c15ull);
  x = folded(x, 32) * as_signed(0xd6e8feb86659fd93ull);
  x = folded(x, 32) * as_signed(0xd6e8feb86659fd93ull);
  return shifted(x, 32);
}

/// dropout_bits (kernels/dropout.h).
at::Tensor bits_of(const at::Tensor& row_keys, const at::Tensor& columns) {
  at::Tensor x = row_keys.bitwise_xor(low_half(columns.bitwise_right_shift(1) * int64_t{0x9e3779b1}));
  x = low_half(folded(x, 16) * int64_t{0x85ebca6b});
  x = low_half(folded(x, 13) * int64_t{0xc2b2ae35});
  x = folded(x, 16);
  return at::where(columns.bitwise_and(1) == 0, x.bitwise_and(0xffff), x.bitwise_right_shift(16));
}

at::Tensor all_bits(const at::Tensor& seed, int64_t rows, int64_t columns) {
  return bits_of(row_keys(seed, at::arange(rows, seed.options()).unsqueeze(1)), at::arange(columns, seed.options()));
}

}  // namespace

StepNoise::StepNoise(double probability, uint64_t seed, uint64_t place, double done)
    : training_(true), probability_(probability), seed_(seed), place_(place), done_(done) {}

StepNoise::StepNoise(double probability, at::Tensor seed, uint64_t place, double done)
    : training_(true), probability_(probability), device_seed_(std::move(seed)), place_(place), done_(done) {}

at::Tensor StepNoise::bits(int64_t rows, int64_t columns) const {
  LENGTHWISE_CHECK(training_, "random numbers outside training");
  const at::Tensor seed = device_seed_.defined() ? device_seed_ : at::full({1}, as_signed(seed_), at::kLong);
  return all_bits(mix64_of(seed + as_signed(place_)), rows, columns);
}

at::Tensor StepNoise::mask(int64_t rows, int64_t columns, const at::TensorOptions& options) const {
  if (!drops()) return at::ones({rows, columns}, options);
  const Dropout dropout{.probability = probability_, .seed = 0};
  return (bits(rows, columns) >= int64_t{dropout.threshold()}).to(options) * dropout.scale();
}

at::Tensor noise_bits(uint64_t seed, int64_t rows, int64_t columns, at::Device device) {
  return all_bits(at::full({1}, as_signed(seed), at::TensorOptions(device).dtype(at::kLong)), rows, columns);
}

}  // namespace lengthwise
