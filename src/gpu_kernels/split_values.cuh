#pragma once
/// The two halves of four neighbouring weights (split_values.h).
#include "gpu_kernels/device.cuh"

namespace lengthwise::gpu {

/// Four mirrors and four low halves, as they lie in memory.
struct SplitFour {
  uint2 mirror, low;
};

__device__ __forceinline__ float join_one(uint32_t mirror, uint32_t low) {
  return __uint_as_float((mirror << 16) + low - ((low & 0x8000u) << 1));
}

__device__ __forceinline__ float4 join_four(const SplitFour& halves) {
  return make_float4(
      join_one(halves.mirror.x & 0xffffu, halves.low.x & 0xffffu), join_one(halves.mirror.x >> 16, halves.low.x >> 16),
      join_one(halves.mirror.y & 0xffffu, halves.low.y & 0xffffu), join_one(halves.mirror.y >> 16, halves.low.y >> 16));
}

/// The bits of a float that lies between no two bfloat16.
__device__ __forceinline__ uint32_t untie(float value) {
  const uint32_t bits = __float_as_uint(value);
  return (bits & 0xffffu) == 0x8000u ? bits | 1u : bits;
}

__device__ __forceinline__ SplitFour split_four(float4 values) {
  const uint32_t x = untie(values.x), y = untie(values.y), z = untie(values.z), w = untie(values.w);
  const auto upper = [](uint32_t first, uint32_t second) {
    return ((first + 0x8000u) >> 16) | ((second + 0x8000u) & 0xffff0000u);
  };
  const auto lower = [](uint32_t first, uint32_t second) { return (first & 0xffffu) | (second << 16); };
  return {make_uint2(upper(x, y), upper(z, w)), make_uint2(lower(x, y), lower(z, w))};
}

}  // namespace lengthwise::gpu
