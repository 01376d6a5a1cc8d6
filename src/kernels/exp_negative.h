#pragma once
/// e^x for x <= 0 without a call, so that loops over it vectorise; relative error below 3e-7. 0 from e^-40 = 4e-18 on,
/// which no sum of weights notices: what follows from smaller ones, such as gradients, would be denormal numbers, which
/// x86 processors compute with a hundred times more slowly.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace lengthwise {

/// Of the range in which e^x is not 0.
inline constexpr float kLeastExponent = -40;

/// e^(x - n ln 2) for numbers or vectors of them, |x - n ln 2| <= about half of ln 2.
template <class T>
[[gnu::always_inline]] inline T exp_of_rest(T x, T n) {
  const T r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  T p = r * 1.9875691500e-4f + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  return p * r * r + r + 1.0f;
}

inline float exp_negative(float x) {
  const bool nothing = x < kLeastExponent;
  x = std::max(x, kLeastExponent);
  const float n = std::nearbyint(x * 1.44269504088896341f);
  const float power = exp_of_rest(x, n) * std::bit_cast<float>((static_cast<int32_t>(n) + 127) << 23);
  return nothing ? 0.0f : power;
}
inline double exp_negative(double x) {
  return std::exp(x);
}

}  // namespace lengthwise
