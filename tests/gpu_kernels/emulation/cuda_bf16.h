#pragma once
/// bfloat16 on the CPU: the upper half of a float, rounded to nearest even.
#include <bit>
#include <cmath>
#include <cstdint>

struct __nv_bfloat16 {
  uint16_t bits;
};

inline float __bfloat162float(__nv_bfloat16 x) {
  return std::bit_cast<float>(static_cast<uint32_t>(x.bits) << 16);
}
inline __nv_bfloat16 __float2bfloat16(float x) {
  if (std::isnan(x)) return {0x7fff};
  const auto whole = std::bit_cast<uint32_t>(x);
  return {static_cast<uint16_t>((whole + 0x7fffu + ((whole >> 16) & 1u)) >> 16)};
}
