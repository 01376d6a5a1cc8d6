#pragma once
/// Tiles of bfloat16 in shared memory: how they are filled, and how fragments of products are read from them.
#include "gpu_kernels/ptx.cuh"

namespace lengthwise::gpu {

/// Elements from one row of a tile to the next: 16 bytes more than the row, so that eight rows lie in different banks.
template <int kWidth>
inline constexpr int kTileStride = kWidth + 8;

/// Copies rows to a tile, zeros where there are none. A thread's chunks lie in one column.
template <int kDim, int kRows, int kThreads>
__device__ __forceinline__ void copy_tile(bf16* tile, const bf16* from, int64_t row_stride, int rows, int dim) {
  constexpr int kChunks = kDim / 8;
  constexpr int kStep = kThreads / kChunks;  // rows from one chunk of a thread to its next
  static_assert(kThreads % kChunks == 0);
  const int row = static_cast<int>(threadIdx.x) / kChunks;
  const int column = static_cast<int>(threadIdx.x) % kChunks * 8;
  const int left = column < dim ? rows - row : 0;
  const bf16* source = from + row * row_stride + column;
  bf16* to = tile + row * kTileStride<kDim> + column;
#pragma unroll
  for (int i = 0; i < (kRows + kStep - 1) / kStep; ++i) {
    if (kRows % kStep != 0 && row + i * kStep >= kRows) continue;
    const bool valid = i * kStep < left;
    copy_async(to + i * kStep * kTileStride<kDim>, valid ? source : from, valid);
    source += kStep * row_stride;
  }
}

// Fragments of a tile of row stride kStride; lane's part of the addresses is inside.

/// A [16, 16] from rows row.., columns column.. .
template <int kStride>
__device__ __forceinline__ void load_a(uint32_t (&a)[4], const bf16* tile, int row, int column) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  load_matrices(a, tile + (row + lane % 16) * kStride + column + lane / 16 * 8);
}

/// A [16, 16] transposed: A's rows are the tile's columns.
template <int kStride>
__device__ __forceinline__ void load_a_transposed(uint32_t (&a)[4], const bf16* tile, int row, int column) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  load_matrices_transposed(a, tile + (row + lane % 8 + lane / 16 * 8) * kStride + column + lane / 8 % 2 * 8);
}

/// B of two neighbouring products [16, 8], whose columns are the tile's rows row .. row + 15: b[0], b[1] and b[2],
/// b[3].
template <int kStride>
__device__ __forceinline__ void load_b(uint32_t (&b)[4], const bf16* tile, int row, int column) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  load_matrices(b, tile + (row + lane % 8 + lane / 16 * 8) * kStride + column + lane / 8 % 2 * 8);
}

/// The same, whose rows are the tile's rows row .. row + 15 and whose columns are columns column .. column + 15.
template <int kStride>
__device__ __forceinline__ void load_b_transposed(uint32_t (&b)[4], const bf16* tile, int row, int column) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  load_matrices_transposed(b, tile + (row + lane % 16) * kStride + column + lane / 16 * 8);
}

/// Two neighbouring blocks of 8 columns of a result as the A of the next product.
__device__ __forceinline__ void as_a(uint32_t (&a)[4], const float (&left)[4], const float (&right)[4]) {
  a[0] = pack(left[0], left[1]);
  a[1] = pack(left[2], left[3]);
  a[2] = pack(right[0], right[1]);
  a[3] = pack(right[2], right[3]);
}

template <int kCount>
__device__ __forceinline__ void clear(float (&c)[kCount][4]) {
#pragma unroll
  for (int n = 0; n < kCount; ++n) c[n][0] = c[n][1] = c[n][2] = c[n][3] = 0;
}

}  // namespace lengthwise::gpu
