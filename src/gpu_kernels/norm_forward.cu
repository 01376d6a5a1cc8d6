#include <algorithm>

#include "gpu_kernels/norm.cuh"

namespace lengthwise::gpu {
namespace {

constexpr float kNormEpsilon = 1e-6f;

/// Each product that is added is said to be one operation: left to the compiler, two variants of a kernel might round
/// differently.
__device__ __forceinline__ float squares_of(float4 x) {
  return fmaf(x.w, x.w, fmaf(x.z, x.z, fmaf(x.x, x.x, x.y * x.y)));
}

/// What a warp needs of a row, on its way from memory; a lane takes only what it has asked for itself.
template <int kChunks>
struct RowAhead {
  float4 x[kChunks][32];
  uint2 branch[kChunks][32];

  /// Zeros where there is nothing to read.
  __device__ __forceinline__ void ask_for(const AddNormForward& args, int64_t row, int64_t rows, int lane) {
    const int64_t base = row * args.width;
#pragma unroll
    for (int k = 0; k < kChunks; ++k) {
      const int column = 4 * (lane + k * 32);
      const bool valid = row < rows && column < static_cast<int>(args.width);
      copy_async(&x[k][lane], args.x + base + column, valid);
      copy_async_pair(&branch[k][lane], static_cast<const bf16*>(args.branch) + base + column,
                      valid && args.branch != nullptr);
    }
    copies_commit();
  }
};

/// What is left to do where a row, what is added to it and the gain are in registers.
template <class T, int kRow, int kChunks>
__device__ __forceinline__ void finish_row(const AddNormForward& args, int64_t row, bool real, int lane,
                                           const Mask& mask, const Mask& normed_mask, float4 (&sum)[kChunks],
                                           const typename Four<T>::Vector (&added)[kChunks],
                                           const float4 (&gain)[kChunks], float* scratch) {
  const auto width = static_cast<int>(args.width);
  const int64_t base = row * args.width;
  if (real && args.branch != nullptr) {
    const uint32_t key = mask.row(static_cast<uint64_t>(row));
#pragma unroll
    for (int k = 0; k < kChunks; ++k) {
      const int column = 4 * (lane + k * kRow);
      if (column >= width) continue;
      float4 more = widen(added[k]);
      if (mask.active()) more = mask.apply(more, key, static_cast<uint32_t>(column));
      sum[k].x += more.x;
      sum[k].y += more.y;
      sum[k].z += more.z;
      sum[k].w += more.w;
    }
  }
  float squares = 0;
#pragma unroll
  for (int k = 0; k < kChunks; ++k) {
    const int column = 4 * (lane + k * kRow);
    if (column < width && (args.branch != nullptr || args.sum != args.x || !real)) {
      store(args.sum + base + column, sum[k]);
    }
    squares += squares_of(sum[k]);
  }
  squares = block_sum<kRow>(squares, scratch);
  const float inverse = 1.0f / sqrtf(squares / static_cast<float>(width) + kNormEpsilon);
  if (lane == 0) args.inverse[row] = inverse;
  const uint32_t key = normed_mask.active() ? normed_mask.row(static_cast<uint64_t>(row)) : 0;
#pragma unroll
  for (int k = 0; k < kChunks; ++k) {
    const int column = 4 * (lane + k * kRow);
    if (column >= width) continue;
    float4 out = make_float4(0, 0, 0, 0);
    if (real) {
      const float factor = inverse * args.normed_scale;
      out = make_float4(sum[k].x * factor * gain[k].x, sum[k].y * factor * gain[k].y, sum[k].z * factor * gain[k].z,
                        sum[k].w * factor * gain[k].w);
      if (normed_mask.active()) out = normed_mask.apply(out, key, static_cast<uint32_t>(column));
    }
    store(static_cast<T*>(args.normed) + base + column, out);
  }
}

template <class T, int kRow, int kChunks>
__global__ void __launch_bounds__(kNormBlock) forward(AddNormForward args) {
  begin();
  __shared__ float scratch[kNormBlock / 32];
  const auto row = static_cast<int64_t>(blockIdx.x) * (kNormBlock / kRow) + threadIdx.x / kRow;
  if (row >= args.capacity) return;
  const int lane = threadIdx.x % kRow;
  const auto width = static_cast<int>(args.width);
  const int64_t base = row * args.width;
  const bool real = args.rows == nullptr || row < *args.rows;
  const T* branch = static_cast<const T*>(args.branch);
  float4 sum[kChunks];
  float4 gain[kChunks];
  typename Four<T>::Vector added[kChunks];
#pragma unroll
  for (int k = 0; k < kChunks; ++k) {
    const int column = 4 * (lane + k * kRow);
    sum[k] = make_float4(0, 0, 0, 0);
    if (column >= width || !real) continue;
    sum[k] = fetch(args.x + base + column);
    if (branch != nullptr) added[k] = fetch(branch + base + column);
    gain[k] = fetch(args.gain + column);
  }
  finish_row<T, kRow, kChunks>(args, row, real, lane, Mask(args.dropout), Mask(args.normed_dropout), sum, added, gain,
                               scratch);
}

/// The same with many rows for every warp, which has asked for the next ones while it works on one.
template <int kChunks>
__global__ void __launch_bounds__(kNormBlock, 2) forward_ahead(AddNormForward args) {
  begin();
  constexpr int kGroups = kNormBlock / 32;
  const int group = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int64_t stride = static_cast<int64_t>(gridDim.x) * kGroups;
  const int64_t rows = args.rows == nullptr ? args.capacity : min(args.capacity, static_cast<int64_t>(*args.rows));
  int64_t row = static_cast<int64_t>(blockIdx.x) * kGroups + group;
  auto* ahead = reinterpret_cast<RowAhead<kChunks>*>(dynamic_shared()) + group * kRowsAhead;
#pragma unroll
  for (int i = 0; i < kRowsAhead; ++i) ahead[i].ask_for(args, row + i * stride, rows, lane);
  const Mask mask(args.dropout);
  const Mask normed_mask(args.normed_dropout);
  float4 gain[kChunks];
#pragma unroll
  for (int k = 0; k < kChunks; ++k) {
    const int column = 4 * (lane + k * 32);
    if (column < static_cast<int>(args.width)) gain[k] = fetch(args.gain + column);
  }
  for (int turn = 0; row < args.capacity; row += stride, ++turn) {
    copies_wait<kRowsAhead - 1>();
    RowAhead<kChunks>& arrived = ahead[turn % kRowsAhead];
    float4 sum[kChunks];
    uint2 added[kChunks];
#pragma unroll
    for (int k = 0; k < kChunks; ++k) {
      sum[k] = arrived.x[k][lane];
      added[k] = arrived.branch[k][lane];
    }
    arrived.ask_for(args, row + kRowsAhead * stride, rows, lane);
    finish_row<bf16, 32, kChunks>(args, row, row < rows, lane, mask, normed_mask, sum, added, gain, nullptr);
  }
}

}  // namespace

void add_norm_forward(const AddNormForward& args, cudaStream_t stream) {
  with_norm_shape(args, [&]<class T, int kRow, int kChunks>() {
    constexpr int kGroups = kNormBlock / kRow;
    if constexpr (kCanAsk<T, kRow, kChunks>) {
      if (args.capacity >= args.ahead_from) {
        const int64_t blocks = std::min(kNormBlocks, (args.capacity + kGroups - 1) / kGroups);
        return launch("add_norm_forward", forward_ahead<kChunks>, static_cast<unsigned>(blocks), kNormBlock,
                      kGroups * kRowsAhead * sizeof(RowAhead<kChunks>), stream, args);
      }
    }
    launch("add_norm_forward", forward<T, kRow, kChunks>,
           static_cast<unsigned>((args.capacity + kGroups - 1) / kGroups), kNormBlock, 0, stream, args);
  });
}

}  // namespace lengthwise::gpu
