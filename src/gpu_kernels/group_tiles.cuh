#pragma once
/// Tiles of kAttentionTile rows of bfloat16 in shared memory, as the products of warpgroups read them (group_ptx.cuh).
///
/// Rows lie behind each other without a gap, rows of more than 64 columns in panels of 64. Within a row chunks of 16
/// bytes are exchanged, so that eight rows lie in different banks. A tile begins at a multiple of 1,024 bytes.
#include "gpu_kernels/attention.h"
#include "gpu_kernels/group_ptx.cuh"
#include "gpu_kernels/tiles.cuh"

namespace lengthwise::gpu {

template <int kDim>
struct GroupTile {
  static constexpr int kRows = kAttentionTile;
  static constexpr int kPanel = kDim < 64 ? kDim : 64;  ///< columns of a panel
  static constexpr int kRowBytes = 2 * kPanel;
  static constexpr int kSize = kRows * kDim;

  /// Where an element lies, and with it the rest of its chunk.
  __device__ static __forceinline__ int place(int row, int column) {
    const int bytes = row * kRowBytes + column % kPanel * 2;
    return column / kPanel * kRows * kPanel + (bytes ^ (bytes >> 3 & (kRowBytes - 16))) / 2;
  }

  /// The rows from `row` (a multiple of 8) on and the columns column .. column + 15: rows of A, or columns of B.
  __device__ static __forceinline__ auto rows_at(const bf16* tile, int row, int column) {
    const bf16* start = tile + column / kPanel * kRows * kPanel + row * kPanel + column % kPanel;
    return matrix_descriptor<kRowBytes>(start, 16, 8 * kRowBytes);
  }
  /// B [16, kDim]: the rows row .. row + 15 (a multiple of 8) as they are.
  __device__ static __forceinline__ auto columns_at(const bf16* tile, int row) {
    return matrix_descriptor<kRowBytes>(tile + row * kPanel, kRows * kRowBytes, 8 * kRowBytes);
  }
};

/// The thread's place in its warpgroup.
__device__ __forceinline__ int group_thread() {
  return static_cast<int>(threadIdx.x) % kGroupThreads;
}

/// Copies rows to a tile, zeros where there are none: by the threads of a warpgroup.
template <int kDim>
__device__ __forceinline__ void copy_rows(bf16* tile, const bf16* from, int64_t row_stride, int rows, int dim) {
  constexpr int kChunks = kDim / 8;
  constexpr int kStep = kGroupThreads / kChunks;  // rows from one chunk of a thread to its next
  const int thread = group_thread();
  const int row = thread / kChunks;
  const int column = thread % kChunks * 8;
  const int left = column < dim ? rows - row : 0;
  const bf16* source = from + row * row_stride + column;
#pragma unroll
  for (int i = 0; i * kStep < GroupTile<kDim>::kRows; ++i) {
    const bool valid = i * kStep < left;
    copy_async(tile + GroupTile<kDim>::place(row + i * kStep, column), valid ? source : from, valid);
    source += kStep * row_stride;
  }
}

/// c = a tile's rows times the transposed rows row .. row + 8 kBlocks - 1 of another.
template <int kDim, int kBlocks>
__device__ __forceinline__ void multiply_rows(float (&c)[kBlocks][4], const bf16* own, const bf16* other, int row) {
#pragma unroll
  for (int k = 0; k < kDim; k += 16)
    multiply_tiles(c, GroupTile<kDim>::rows_at(own, 0, k), GroupTile<kDim>::rows_at(other, row, k), k > 0);
}

/// c += the transposed tile `own` of as many columns as rows, times columns column .. column + 8 kBlocks - 1 of
/// another.
template <int kDim, int kBlocks>
__device__ __forceinline__ void add_turned(float (&c)[kBlocks][4], const bf16* own, const bf16* other, int column) {
  using Own = GroupTile<kAttentionTile>;
#pragma unroll
  for (int k = 0; k < kAttentionTile; k += 16)
    add_turned_tiles(c, Own::columns_at(own, k), GroupTile<kDim>::columns_at(other + column, k));
}

/// Numbers of a warp's 16 rows and 8 kBlocks columns, rounded to bfloat16, as the A of products.
template <int kBlocks>
class Weights {
 public:
  __device__ __forceinline__ explicit Weights(const float (&s)[kBlocks][4]) {
#pragma unroll
    for (int n = 0; n < kBlocks; n += 2) as_a(a_[n / 2], s[n], s[n + 1]);
  }
  /// c += these times the rows row .. row + 8 kBlocks - 1 of a tile.
  template <int kDim>
  __device__ __forceinline__ void add_rows(float (&c)[kDim / 8][4], const bf16* tile, int row) const {
#pragma unroll
    for (int n = 0; n < kBlocks; n += 2) multiply_weights(c, a_[n / 2], GroupTile<kDim>::columns_at(tile, row + 8 * n));
  }
  /// Those of the blocks of columns 2 n and 2 n + 1: of the lane's first row and its second in the one, then in the
  /// other.
  __device__ __forceinline__ uint4 two_blocks(int n) const {
    return make_uint4(a_[n][0], a_[n][1], a_[n][2], a_[n][3]);
  }
  /// Writes them to a tile of as many columns, in the rows that they have here.
  __device__ __forceinline__ void put(bf16* tile) const {
    constexpr int kColumns = 8 * kBlocks;
    const int thread = group_thread();
    const int row = thread / 32 * 16 + thread % 32 / 4;
#pragma unroll
    for (int n = 0; n < kBlocks; ++n) {
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        bf16* to = tile + GroupTile<kColumns>::place(row + 8 * r, 8 * n + thread % 4 * 2);
        *reinterpret_cast<uint32_t*>(to) = a_[n / 2][n % 2 * 2 + r];
      }
    }
  }

 private:
  uint32_t a_[kBlocks / 2][4];
};

}  // namespace lengthwise::gpu
