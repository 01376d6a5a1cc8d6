#pragma once
/// The device's side of CUDA's names, on the CPU (emulator.h).
#include <algorithm>
#include <bit>
#include <climits>
#include <cmath>

#include "cuda_runtime_api.h"
#include "emulator.h"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(bytes) __attribute__((aligned(bytes)))
// A block's threads are fibers of one thread, and blocks run one after the other.
#define __shared__ static

struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(16) uint4 {
  uint32_t x, y, z, w;
};
struct alignas(16) int4 {
  int32_t x, y, z, w;
};
struct alignas(8) float2 {
  float x, y;
};
struct alignas(8) uint2 {
  uint32_t x, y;
};
inline float4 make_float4(float x, float y, float z, float w) {
  return {x, y, z, w};
}
inline uint4 make_uint4(uint32_t x, uint32_t y, uint32_t z, uint32_t w) {
  return {x, y, z, w};
}
inline float2 make_float2(float x, float y) {
  return {x, y};
}
inline uint2 make_uint2(uint32_t x, uint32_t y) {
  return {x, y};
}

using std::abs;
using std::isfinite;
using std::max;
using std::min;

inline float __uint_as_float(uint32_t x) {
  return std::bit_cast<float>(x);
}
inline uint32_t __float_as_uint(float x) {
  return std::bit_cast<uint32_t>(x);
}
inline void __syncthreads() {
  lengthwise::emulator::wait_for_block();
}
inline void __syncwarp() {
  lengthwise::emulator::exchange(nullptr, 0);
}
inline void __threadfence() {}
template <class T>
T __ldcg(const T* from) {
  return *from;
}
inline uint32_t atomicAdd(uint32_t* to, uint32_t more) {
  const uint32_t before = *to;
  *to += more;
  return before;
}
template <class T>
T __shfl_sync(uint32_t, T value, int lane) {
  const unsigned char* slots = lengthwise::emulator::exchange(&value, sizeof(T));
  T other;
  std::memcpy(&other, slots + static_cast<size_t>(lane) * lengthwise::emulator::kSlot, sizeof(T));
  return other;
}
template <class T>
T __shfl_xor_sync(uint32_t all, T value, int step) {
  return __shfl_sync(all, value, static_cast<int>(threadIdx.x % 32) ^ step);
}
template <class T>
T __shfl_up_sync(uint32_t all, T value, int step) {
  const auto lane = static_cast<int>(threadIdx.x % 32);
  return __shfl_sync(all, value, lane >= step ? lane - step : lane);
}
template <class T>
T __shfl_down_sync(uint32_t all, T value, int step) {
  const auto lane = static_cast<int>(threadIdx.x % 32);
  return __shfl_sync(all, value, lane + step < 32 ? lane + step : lane);
}
inline uint32_t __ballot_sync(uint32_t, bool mine) {
  const unsigned char* slots = lengthwise::emulator::exchange(&mine, sizeof(mine));
  uint32_t bits = 0;
  for (size_t lane = 0; lane < 32; ++lane) {
    bool theirs;
    std::memcpy(&theirs, slots + lane * lengthwise::emulator::kSlot, sizeof(theirs));
    bits |= theirs ? 1u << lane : 0u;
  }
  return bits;
}
/// The place of the lowest bit that is set, from 1; 0: none is.
inline int __ffs(int bits) {
  return __builtin_ffs(bits);
}
