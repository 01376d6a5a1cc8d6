#include <algorithm>
#include <type_traits>

#include "gpu_kernels/cross_entropy.h"
#include "gpu_kernels/device.cuh"
#include "gpu_kernels/ptx.cuh"

namespace lengthwise::gpu {
namespace {

constexpr float kLog2e = 1.44269504088896341f;
constexpr int kBlock = 512;

/// The largest value so far, where it first stood, and the sum of exp(value - largest).
struct Running {
  float largest = -INFINITY;
  float sum = 0;
  int column = INT_MAX;

  __device__ void add(const Running& other) {
    if (other.largest > largest || (other.largest == largest && other.column < column)) column = other.column;
    const float most = fmaxf(largest, other.largest);
    // Two empty ones would give inf - inf.
    if (most == -INFINITY) return;
    sum = sum * exp2_fast((largest - most) * kLog2e) + other.sum * exp2_fast((other.largest - most) * kLog2e);
    largest = most;
  }

  __device__ Running from_lane(int step) const {
    Running other;
    other.largest = __shfl_xor_sync(kAll, largest, step);
    other.sum = __shfl_xor_sync(kAll, sum, step);
    other.column = __shfl_xor_sync(kAll, column, step);
    return other;
  }
};

/// kRow threads share a row.
template <class In, class Out, int kRow>
__global__ void __launch_bounds__(kBlock) cross_entropy_kernel(CrossEntropy args) {
  begin();
  __shared__ Running parts[kBlock / 32];
  const auto row = static_cast<int64_t>(blockIdx.x) * (kBlock / kRow) + threadIdx.x / kRow;
  if (row >= args.capacity) return;
  const int lane = static_cast<int>(threadIdx.x) % kRow;
  const auto columns = static_cast<int>(args.vocabulary);
  const auto stride = static_cast<int>(args.stride);
  const In* logits = static_cast<const In*>(args.logits) + row * args.stride;
  Out* out = args.d_logits != nullptr ? static_cast<Out*>(args.d_logits) + row * args.stride : nullptr;
  const bool real = args.rows == nullptr || args.first + row < *args.rows;
  if (!real) {
    if (lane == 0) {
      args.losses[row] = 0;
      if (args.best != nullptr) args.best[row] = -1;
    }
    for (int c = 4 * lane; out != nullptr && c < stride; c += 4 * kRow) store(out + c, make_float4(0, 0, 0, 0));
    return;
  }
  const int target = args.targets[row];
  const float target_logit = as_float(logits[target]);

  Running mine;
#pragma unroll 4
  for (int c = 4 * lane; c < columns; c += 4 * kRow) {
    const float4 four = widen(fetch(logits + c));
    const float values[4] = {four.x, four.y, four.z, four.w};
    float most = mine.largest;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      if (c + k >= columns) continue;
      if (values[k] > most) mine.column = c + k;
      most = fmaxf(most, values[k]);
    }
    if (most == -INFINITY) continue;
    float sum = mine.sum * exp2_fast((mine.largest - most) * kLog2e);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      if (c + k < columns) sum += exp2_fast((values[k] - most) * kLog2e);
    }
    mine.sum = sum;
    mine.largest = most;
  }
#pragma unroll
  for (int step = 16; step > 0; step /= 2) mine.add(mine.from_lane(step));
  if constexpr (kRow > 32) {
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = mine;
    __syncthreads();
    mine = parts[0];
    for (int w = 1; w < kRow / 32; ++w) mine.add(parts[w]);
  }
  if (lane == 0) {
    args.losses[row] = logf(mine.sum) + mine.largest - target_logit;
    if (args.best != nullptr) args.best[row] = min(mine.column, columns - 1);
  }
  if (out == nullptr) return;
  // A value that is not finite must reach the gradient: exp2 of it does.
  const float weight = *args.weight;
  const float factor = weight / mine.sum;
  const auto gradient = [&](float value, int column) {
    const float share = exp2_fast((value - mine.largest) * kLog2e) * factor;
    return column >= columns ? 0.0f : column == target ? share - weight : share;
  };
  constexpr int kHeld = 4;  // vectors read before the first is written: the compiler may not move reads past writes
  for (int first = 4 * lane; first < stride; first += kHeld * 4 * kRow) {
    typename Four<In>::Vector held[kHeld];
#pragma unroll
    for (int h = 0; h < kHeld; ++h) {
      if (first + h * 4 * kRow < stride) held[h] = fetch(logits + first + h * 4 * kRow);
    }
#pragma unroll
    for (int h = 0; h < kHeld; ++h) {
      const int c = first + h * 4 * kRow;
      if (c >= stride) continue;
      const float4 four = widen(held[h]);
      store(out + c, make_float4(gradient(four.x, c), gradient(four.y, c + 1), gradient(four.z, c + 2),
                                 gradient(four.w, c + 3)));
    }
  }
}

constexpr int kLongBlock = 1024;
constexpr int kVectors = 8;       ///< of a thread
constexpr int kLongBlocks = 132;  ///< one on each multiprocessor of an H200

bool fits_long(const CrossEntropy& args) {
  return args.vocabulary > 8192 && args.stride <= 4 * kVectors * kLongBlock;
}

/// The largest of some values, and the first of the columns where it stands.
struct Largest {
  float value;
  int column;
};

__device__ __forceinline__ Largest largest_of_warp(Largest mine) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    const float value = __shfl_xor_sync(kAll, mine.value, step);
    const int column = __shfl_xor_sync(kAll, mine.column, step);
    if (value > mine.value || (value == mine.value && column < mine.column)) mine = {value, column};
  }
  return mine;
}

/// Of the whole block, by what does the same for a warp; between two calls with the same `parts` lies a barrier.
template <class T, class OfWarp>
__device__ __forceinline__ T of_long_block(T mine, T* parts, const OfWarp& of_warp) {
  mine = of_warp(mine);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = mine;
  __syncthreads();
  return of_warp(parts[threadIdx.x % 32]);
}

/// Long rows, which a block holds in its registers: each number is read once. While a row is worked on, the block's
/// next one comes to shared memory, where a thread reads nothing but what it has copied.
template <class Out>
__global__ void __launch_bounds__(kLongBlock, 1) long_rows_kernel(CrossEntropy args) {
  begin();
  __shared__ Largest largest_parts[32];
  __shared__ float sum_parts[32];
  __shared__ float target_logit;
  float* next = reinterpret_cast<float*>(dynamic_shared());
  const auto columns = static_cast<int>(args.vocabulary);
  const auto stride = static_cast<int>(args.stride);
  const int own = 4 * static_cast<int>(threadIdx.x);  // the first column of the thread's first vector
  const auto capacity = static_cast<int>(args.capacity);
  const int64_t all = args.rows == nullptr ? args.capacity : *args.rows - args.first;
  const int real = max(0, static_cast<int>(all < capacity ? all : capacity));
  const auto copy = [&](int row) {
    const float* from = static_cast<const float*>(args.logits) + row * args.stride;
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      const int c = own + 4 * kLongBlock * i;
      if (row < real && c < stride) copy_async(next + c, from + c, true);
    }
    copies_commit();
  };
  copy(static_cast<int>(blockIdx.x));
  for (int row = static_cast<int>(blockIdx.x); row < capacity; row += static_cast<int>(gridDim.x)) {
    Out* out = args.d_logits != nullptr ? static_cast<Out*>(args.d_logits) + row * args.stride : nullptr;
    if (row >= real) {
      if (threadIdx.x == 0) {
        args.losses[row] = 0;
        if (args.best != nullptr) args.best[row] = -1;
      }
      for (int c = own; out != nullptr && c < stride; c += 4 * kLongBlock) store(out + c, make_float4(0, 0, 0, 0));
      continue;
    }
    copies_wait<0>();
    float values[kVectors][4];
    Largest largest{-INFINITY, INT_MAX};
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      const int c = own + 4 * kLongBlock * i;
      const float4 four = c < stride ? fetch(next + c) : make_float4(0, 0, 0, 0);
      const float found[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        values[i][k] = c + k < columns ? found[k] : -INFINITY;
        if (values[i][k] > largest.value) largest = {values[i][k], c + k};
      }
    }
    largest = of_long_block(largest, largest_parts, largest_of_warp);
    copy(row + static_cast<int>(gridDim.x));
    const int target = args.targets[row];
    float sum = 0;
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        if (own + 4 * kLongBlock * i + k == target) target_logit = values[i][k];
        values[i][k] = exp2_fast((values[i][k] - largest.value) * kLog2e);
        sum += values[i][k];
      }
    }
    sum = of_long_block(sum, sum_parts, warp_sum<float>);
    if (threadIdx.x == 0) {
      args.losses[row] = logf(sum) + largest.value - target_logit;
      if (args.best != nullptr) args.best[row] = min(largest.column, columns - 1);
    }
    if (out == nullptr) continue;
    const float weight = *args.weight;
    const float factor = weight / sum;
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      const int c = own + 4 * kLongBlock * i;
      if (c >= stride) continue;
      const auto gradient = [&](int k) {
        const float share = values[i][k] * factor;
        return c + k >= columns ? 0.0f : c + k == target ? share - weight : share;
      };
      store(out + c, make_float4(gradient(0), gradient(1), gradient(2), gradient(3)));
    }
  }
}

template <class In, class Out>
void run(const CrossEntropy& args, cudaStream_t stream) {
  if constexpr (std::is_same_v<In, float>) {
    if (fits_long(args)) {
      return launch("cross_entropy", long_rows_kernel<Out>,
                    static_cast<unsigned>(std::min<int64_t>(args.capacity, kLongBlocks)), kLongBlock,
                    static_cast<size_t>(args.stride) * 4, stream, args);
    }
  }
  if (args.vocabulary <= 1024) {
    constexpr int kRows = kBlock / 32;
    launch("cross_entropy", cross_entropy_kernel<In, Out, 32>,
           static_cast<unsigned>((args.capacity + kRows - 1) / kRows), kBlock, 0, stream, args);
  } else {
    launch("cross_entropy", cross_entropy_kernel<In, Out, kBlock>, static_cast<unsigned>(args.capacity), kBlock, 0,
           stream, args);
  }
}

}  // namespace

void cross_entropy(const CrossEntropy& args, cudaStream_t stream) {
  require(
      args.stride % 4 == 0 && args.stride >= args.vocabulary && args.vocabulary > 0,
      "cross-entropy on the GPU wants rows of logits padded to a multiple of 4, not " + std::to_string(args.stride));
  require(args.d_logits != args.logits || args.d_storage == args.logits_storage,
          "cross-entropy cannot replace logits by gradients of another type");
  if (args.capacity == 0) return;
  const bool float_in = args.logits_storage == Storage::float32;
  const bool float_out = args.d_storage == Storage::float32;
  if (float_in && float_out) return run<float, float>(args, stream);
  if (float_in) return run<float, bf16>(args, stream);
  if (float_out) return run<bf16, float>(args, stream);
  run<bf16, bf16>(args, stream);
}

}  // namespace lengthwise::gpu
