#pragma once
/// The two halves of four neighbouring weights (split_values.h).
#include "gpu_kernels/device.cuh"

namespace lengthwise::gpu {

/// Four mirrors and four low halves, as they lie in memory.
struct SplitFour {
  uint2 mirror, low;
};

/// Both weights of a pair: the first is the lower half of its words.
__device__ __forceinline__ float2 join_two(uint32_t mirror, uint32_t low) {
  const auto first = static_cast<int16_t>(low & 0xffffu);
  const int32_t second = static_cast<int32_t>(low) >> 16;
  return make_float2(__uint_as_float((mirror << 16) + static_cast<uint32_t>(first)),
                     __uint_as_float((mirror & 0xffff0000u) + static_cast<uint32_t>(second)));
}

__device__ __forceinline__ float4 join_four(const SplitFour& halves) {
  const float2 front = join_two(halves.mirror.x, halves.low.x);
  const float2 back = join_two(halves.mirror.y, halves.low.y);
  return make_float4(front.x, front.y, back.x, back.y);
}

/// What is missing from a pair of mirrors. A float halfway between two bfloat16 that was rounded down misses one more
/// than 16 bits can say; saturation moves it by its last bit.
__device__ __forceinline__ uint32_t missing(uint32_t mirror, float first, float second) {
  return pack_saturated(static_cast<int32_t>(__float_as_uint(first) - (mirror << 16)),
                        static_cast<int32_t>(__float_as_uint(second) - (mirror & 0xffff0000u)));
}

__device__ __forceinline__ SplitFour split_four(float4 values) {
  const uint2 mirror = make_uint2(pack(values.x, values.y), pack(values.z, values.w));
  return {mirror, make_uint2(missing(mirror.x, values.x, values.y), missing(mirror.y, values.z, values.w))};
}

}  // namespace lengthwise::gpu
