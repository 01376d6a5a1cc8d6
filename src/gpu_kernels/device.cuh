#pragma once
/// Device helpers of all kernels: vectors in memory, sums over warps and blocks in a fixed order, dropout.
#include <cuda_bf16.h>

#include <cstdint>

#include "gpu_kernels/launch.cuh"
#include "gpu_kernels/ptx.cuh"

namespace lengthwise::gpu {

inline constexpr uint32_t kAll = 0xffffffffu;

template <class T>
struct Four;  ///< four elements as one access
template <>
struct Four<float> {
  using Vector = float4;
};
template <>
struct Four<bf16> {
  using Vector = uint2;
};

__device__ __forceinline__ float low_of(uint32_t pair) {
  return __uint_as_float(pair << 16);
}
__device__ __forceinline__ float high_of(uint32_t pair) {
  return __uint_as_float(pair & 0xffff0000u);
}

/// Four elements as they lie in memory, so that many loads can be under way before the first is used.
template <class T>
__device__ __forceinline__ typename Four<T>::Vector fetch(const T* from) {
  return *reinterpret_cast<const typename Four<T>::Vector*>(from);
}

__device__ __forceinline__ float4 widen(float4 x) {
  return x;
}
__device__ __forceinline__ float4 widen(uint2 x) {
  return make_float4(low_of(x.x), high_of(x.x), low_of(x.y), high_of(x.y));
}

__device__ __forceinline__ void store(float* to, float4 x) {
  *reinterpret_cast<float4*>(to) = x;
}
__device__ __forceinline__ void store(bf16* to, float4 x) {
  *reinterpret_cast<uint2*>(to) = make_uint2(pack(x.x, x.y), pack(x.z, x.w));
}

__device__ __forceinline__ float as_float(float x) {
  return x;
}
__device__ __forceinline__ float as_float(bf16 x) {
  return __bfloat162float(x);
}
template <class T>
__device__ __forceinline__ T from_float(float x);
template <>
__device__ __forceinline__ float from_float<float>(float x) {
  return x;
}
template <>
__device__ __forceinline__ bf16 from_float<bf16>(float x) {
  return __float2bfloat16(x);
}

/// The warp's place in the block, in a way that lets the compiler know that all its lanes agree.
__device__ __forceinline__ int warp_index() {
  return __shfl_sync(kAll, static_cast<int>(threadIdx.x) / 32, 0);
}

/// Every lane gets the sum; the order of additions is the same for all.
template <class T>
__device__ __forceinline__ T warp_sum(T x) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(kAll, x, step);
  return x;
}

/// Every thread gets the sum of `kThreads` consecutive threads (the whole block); `scratch` holds kThreads / 32 values.
template <int kThreads, class T>
__device__ __forceinline__ T block_sum(T x, T* scratch) {
  x = warp_sum(x);
  if constexpr (kThreads > 32) {
    __syncthreads();
    if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = x;
    __syncthreads();
    x = scratch[0];
#pragma unroll
    for (int w = 1; w < kThreads / 32; ++w) x += scratch[w];
  }
  return x;
}

__device__ __forceinline__ uint64_t mix64(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ull;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// kernels/dropout.h, word for word.
class Mask {
 public:
  __device__ explicit Mask(const DropoutArgs& args) : threshold_(args.threshold), scale_(args.scale) {
    if (threshold_ > 0) seed_ = mix64(*args.seed + args.place);
  }

  __device__ bool active() const { return threshold_ > 0; }

  __device__ uint32_t row(uint64_t index) const {
    uint64_t x = seed_ + 0x9e3779b97f4a7c15ull * (index + 1);
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ull;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ull;
    return static_cast<uint32_t>(x >> 32);
  }

  /// What a pair of columns (2 p, 2 p + 1) adds to its hash; that of pair p + k is this plus pair_key(k), which costs
  /// less when k is known to the compiler.
  __device__ static constexpr uint32_t pair_key(uint32_t pair) { return pair * 0x9e3779b1u; }

  /// The bits of both elements of a pair.
  __device__ static uint32_t pair_bits(uint32_t row_key, uint32_t pair_key) {
    uint32_t x = row_key ^ pair_key;
    x ^= x >> 16;
    x *= 0x85ebca6bu;
    x ^= x >> 13;
    x *= 0xc2b2ae35u;
    return x ^ (x >> 16);
  }

  /// `odd`: the second of the pair.
  __device__ bool keeps(uint32_t bits, bool odd) const { return (odd ? bits : bits << 16) >= threshold_; }

  /// One element alone.
  __device__ bool keeps_at(uint32_t row_key, uint32_t column) const {
    return keeps(pair_bits(row_key, pair_key(column / 2)), column % 2 != 0);
  }

  __device__ float scale() const { return scale_; }

  /// Four elements from an even column on.
  __device__ float4 apply(float4 x, uint32_t row_key, uint32_t column) const {
    const uint32_t first = pair_key(column / 2);
    const uint32_t one = pair_bits(row_key, first);
    const uint32_t two = pair_bits(row_key, first + pair_key(1));
    return make_float4(keeps(one, false) ? x.x * scale_ : 0.0f, keeps(one, true) ? x.y * scale_ : 0.0f,
                       keeps(two, false) ? x.z * scale_ : 0.0f, keeps(two, true) ? x.w * scale_ : 0.0f);
  }

 private:
  uint64_t seed_ = 0;
  uint32_t threshold_;
  float scale_;
};

}  // namespace lengthwise::gpu
