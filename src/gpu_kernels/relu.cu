#include "gpu_kernels/device.cuh"
#include "gpu_kernels/relu.h"

namespace lengthwise::gpu {
namespace {

constexpr int kBlock = 256;
constexpr int kVectors = 4;  ///< 16-byte vectors of one thread

template <class T>
inline constexpr int kPerVector = 16 / sizeof(T);

__device__ __forceinline__ uint32_t rectify(uint32_t word, const Mask& mask, uint32_t key, uint32_t column, float) {
  return __float_as_uint(fmaxf(__uint_as_float(word), 0.0f) * (mask.active() ? mask.at(key, column) : 1.0f));
}
__device__ __forceinline__ uint32_t rectify(uint32_t word, const Mask& mask, uint32_t key, uint32_t column, bf16) {
  const float low = fmaxf(low_of(word), 0.0f);
  const float high = fmaxf(high_of(word), 0.0f);
  if (!mask.active()) return pack(low, high);
  return pack(low * mask.at(key, column), high * mask.at(key, column + 1));
}

__device__ __forceinline__ uint32_t pass_back(uint32_t y, uint32_t dy, float scale, float) {
  return __uint_as_float(y) > 0 ? __float_as_uint(__uint_as_float(dy) * scale) : 0;
}
__device__ __forceinline__ uint32_t pass_back(uint32_t y, uint32_t dy, float scale, bf16) {
  return pack(low_of(y) > 0 ? low_of(dy) * scale : 0.0f, high_of(y) > 0 ? high_of(dy) * scale : 0.0f);
}

/// A warp takes kVectors * 32 neighbouring vectors of one row.
template <class T>
__global__ void __launch_bounds__(kBlock) forward(T* x, int64_t rows, int vectors, int warps_a_row, DropoutArgs dropout) {
  begin();
  const int64_t warp = (static_cast<int64_t>(blockIdx.x) * kBlock + threadIdx.x) / 32;
  const int64_t row = warp / warps_a_row;
  if (row >= rows) return;
  const int first = static_cast<int>(warp % warps_a_row) * 32 * kVectors + static_cast<int>(threadIdx.x) % 32;
  uint4* data = reinterpret_cast<uint4*>(x) + row * vectors;
  uint4 values[kVectors];
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    if (first + 32 * k < vectors) values[k] = data[first + 32 * k];
  }
  const Mask mask(dropout);
  const uint32_t key = mask.active() ? mask.row(static_cast<uint64_t>(row)) : 0;
  constexpr uint32_t kPerWord = kPerVector<T> / 4;
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    const auto column = static_cast<uint32_t>((first + 32 * k) * kPerVector<T>);
    if (first + 32 * k >= vectors) continue;
    data[first + 32 * k] = make_uint4(rectify(values[k].x, mask, key, column, T{}),
                                      rectify(values[k].y, mask, key, column + kPerWord, T{}),
                                      rectify(values[k].z, mask, key, column + 2 * kPerWord, T{}),
                                      rectify(values[k].w, mask, key, column + 3 * kPerWord, T{}));
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
    dy[first + k * kBlock] = make_uint4(
        pass_back(results[k].x, values[k].x, scale, T{}), pass_back(results[k].y, values[k].y, scale, T{}),
        pass_back(results[k].z, values[k].z, scale, T{}), pass_back(results[k].w, values[k].w, scale, T{}));
  }
}

template <class T>
void run_forward(void* x, int64_t rows, int64_t width, const DropoutArgs& dropout, cudaStream_t stream) {
  const int64_t vectors = width / kPerVector<T>;
  const int64_t warps_a_row = (vectors + 32 * kVectors - 1) / (32 * kVectors);
  const int64_t blocks = (rows * warps_a_row + kBlock / 32 - 1) / (kBlock / 32);
  launch("relu_dropout_forward", forward<T>, static_cast<unsigned>(blocks), kBlock, 0, stream, static_cast<T*>(x), rows,
         static_cast<int>(vectors), static_cast<int>(warps_a_row), dropout);
}

template <class T>
void run_backward(const void* y, void* dy, int64_t elements, float scale, cudaStream_t stream) {
  const int64_t vectors = elements / kPerVector<T>;
  const int64_t blocks = (vectors + kBlock * kVectors - 1) / (kBlock * kVectors);
  launch("relu_dropout_backward", backward<T>, static_cast<unsigned>(blocks), kBlock, 0, stream,
         static_cast<const uint4*>(y), static_cast<uint4*>(dy), vectors, scale);
}

void check_width(int64_t width) {
  require(width > 0 && width % 8 == 0,
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
