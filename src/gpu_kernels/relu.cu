#include "gpu_kernels/device.cuh"
#include "gpu_kernels/limits.h"
#include "gpu_kernels/relu.h"

namespace lengthwise::gpu {
namespace {

constexpr int kBlock = 256;
constexpr int kVectors = 2;        ///< 16-byte vectors of one thread, backward
constexpr int kMostThreads = 512;  ///< of one row, forward

template <class T>
inline constexpr int kPerVector = 16 / sizeof(T);

/// Two elements, which have one pair of the mask's bits.
template <bool kDrops>
__device__ __forceinline__ float2 rectify(float2 x, const Mask& mask, uint32_t row_key, uint32_t pair_key) {
  x = make_float2(fmaxf(x.x, 0.0f), fmaxf(x.y, 0.0f));
  if constexpr (!kDrops) return x;
  const uint32_t bits = Mask::pair_bits(row_key, pair_key);
  return make_float2(mask.keeps(bits, false) ? x.x * mask.scale() : 0.0f,
                     mask.keeps(bits, true) ? x.y * mask.scale() : 0.0f);
}

/// 16 bytes; `pair_key` is that of their first two elements.
template <bool kDrops>
__device__ __forceinline__ uint4 rectify(uint4 x, const Mask& mask, uint32_t row_key, uint32_t pair_key, float) {
  const float2 low = rectify<kDrops>(make_float2(__uint_as_float(x.x), __uint_as_float(x.y)), mask, row_key, pair_key);
  const float2 high = rectify<kDrops>(make_float2(__uint_as_float(x.z), __uint_as_float(x.w)), mask, row_key,
                                      pair_key + Mask::pair_key(1));
  return make_uint4(__float_as_uint(low.x), __float_as_uint(low.y), __float_as_uint(high.x), __float_as_uint(high.y));
}
template <bool kDrops>
__device__ __forceinline__ uint4 rectify(uint4 x, const Mask& mask, uint32_t row_key, uint32_t pair_key, bf16) {
  const auto word = [&](uint32_t two, uint32_t pair) {
    const float2 y =
        rectify<kDrops>(make_float2(low_of(two), high_of(two)), mask, row_key, pair_key + Mask::pair_key(pair));
    return pack(y.x, y.y);
  };
  return make_uint4(word(x.x, 0), word(x.y, 1), word(x.z, 2), word(x.w, 3));
}

__device__ __forceinline__ uint32_t pass_back(uint32_t y, uint32_t dy, float scale, float) {
  return __uint_as_float(y) > 0 ? __float_as_uint(__uint_as_float(dy) * scale) : 0;
}
__device__ __forceinline__ uint32_t pass_back(uint32_t y, uint32_t dy, float scale, bf16) {
  return pack(low_of(y) > 0 ? low_of(dy) * scale : 0.0f, high_of(y) > 0 ? high_of(dy) * scale : 0.0f);
}

/// One block a row. The first warp hashes the row while the values are on their way.
template <class T, bool kDrops>
__global__ void __launch_bounds__(kMostThreads) forward(T* x, int vectors, DropoutArgs dropout) {
  begin();
  __shared__ uint32_t shared_key;
  uint4* data = reinterpret_cast<uint4*>(x) + static_cast<int64_t>(blockIdx.x) * vectors;
  int place = static_cast<int>(threadIdx.x);
  uint4 values = make_uint4(0, 0, 0, 0);
  if (place < vectors) values = data[place];
  const Mask mask(dropout);
  uint32_t row_key = 0;
  if constexpr (kDrops) {
    if (threadIdx.x == 0) shared_key = mask.row(blockIdx.x);
    __syncthreads();
    row_key = shared_key;
  }
  while (place < vectors) {
    const int next = place + static_cast<int>(blockDim.x);
    const uint32_t pair_key = Mask::pair_key(static_cast<uint32_t>(place * (kPerVector<T> / 2)));
    const uint4 result = rectify<kDrops>(values, mask, row_key, pair_key, T{});
    if (next < vectors) values = data[next];
    data[place] = result;
    place = next;
  }
}

template <class T>
__global__ void __launch_bounds__(kBlock) backward(const uint4* y, uint4* dy, int64_t vectors, float scale) {
  begin();
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kBlock * kVectors + threadIdx.x;
  uint4 results[kVectors];
  uint4 values[kVectors];
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    if (first + k * kBlock >= vectors) continue;
    results[k] = y[first + k * kBlock];
    values[k] = dy[first + k * kBlock];
  }
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    if (first + k * kBlock >= vectors) continue;
    dy[first + k * kBlock] =
        make_uint4(pass_back(results[k].x, values[k].x, scale, T{}), pass_back(results[k].y, values[k].y, scale, T{}),
                   pass_back(results[k].z, values[k].z, scale, T{}), pass_back(results[k].w, values[k].w, scale, T{}));
  }
}

template <class T>
void run_forward(void* x, int64_t rows, int64_t width, const DropoutArgs& dropout, cudaStream_t stream) {
  const int64_t vectors = width / kPerVector<T>;
  // As few turns as the block's size allows, and all of them full.
  const int64_t turns = (vectors + kMostThreads - 1) / kMostThreads;
  const int64_t threads = ((vectors + turns - 1) / turns + 31) / 32 * 32;
  launch("relu_dropout_forward", dropout.active() ? forward<T, true> : forward<T, false>, static_cast<unsigned>(rows),
         static_cast<unsigned>(threads), 0, stream, static_cast<T*>(x), static_cast<int>(vectors), dropout);
}

template <class T>
void run_backward(const void* y, void* dy, int64_t elements, float scale, cudaStream_t stream) {
  const int64_t vectors = elements / kPerVector<T>;
  const int64_t blocks = (vectors + kBlock * kVectors - 1) / (kBlock * kVectors);
  launch("relu_dropout_backward", backward<T>, static_cast<unsigned>(blocks), kBlock, 0, stream,
         static_cast<const uint4*>(y), static_cast<uint4*>(dy), vectors, scale);
}

void check_width(int64_t width) {
  require(width > 0 && width % kHiddenStep == 0,
          "the rectifier on the GPU wants a width that is a multiple of 8, not " + std::to_string(width));
}

}  // namespace

void relu_dropout_forward(Storage storage, void* x, int64_t rows, int64_t width, const DropoutArgs& dropout,
                          cudaStream_t stream) {
  check_width(width);
  if (rows == 0) return;
  if (storage == Storage::float32) return run_forward<float>(x, rows, width, dropout, stream);
  run_forward<bf16>(x, rows, width, dropout, stream);
}

void relu_dropout_backward(Storage storage, const void* y, void* dy, int64_t rows, int64_t width,
                           const DropoutArgs& dropout, cudaStream_t stream) {
  check_width(width);
  if (rows == 0) return;
  const float scale = dropout.active() ? dropout.scale : 1.0f;
  if (storage == Storage::float32) return run_backward<float>(y, dy, rows * width, scale, stream);
  run_backward<bf16>(y, dy, rows * width, scale, stream);
}

}  // namespace lengthwise::gpu
