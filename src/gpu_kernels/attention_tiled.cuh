#pragma once
/// What the tiled bfloat16 kernels of attention share.
///
/// A block of four warps has 64 rows (queries or keys), 16 to a warp, and walks over tiles of 64 of the others, whose
/// copies to shared memory run two deep. A tile is taken in two halves, for fewer registers; within a half there is no
/// branch, so that loads and products of different fragments overlap. The biases of a tile are a strip of 127
/// neighbouring distances.
#include "gpu_kernels/attention_device.cuh"

namespace lengthwise::gpu {

inline constexpr int kRows = kAttentionTile;
inline constexpr int kHalf = kRows / 2;
inline constexpr int kTiledThreads = 2 * kRows;
inline constexpr int kStrip = 2 * kRows;  ///< the last place is not used

template <int kDim>
inline constexpr int kTileSize = kRows* kTileStride<kDim>;

/// The biases of distances first .. first + 126; what lies outside the table is never used.
__device__ __forceinline__ void copy_strip(float* strip, const Attention& args, int head, int first) {
  const int distance = first + static_cast<int>(threadIdx.x);
  const bool valid = distance >= 0 && distance < args.distances && args.table != nullptr;
  const float* from = args.table + head * args.distances + distance;
  copy_async_word(strip + threadIdx.x, valid ? static_cast<const void*>(from) : args.offsets, valid);
}

/// One number for each token of a tile: values [token, head], or `otherwise` where there are none.
__device__ __forceinline__ void copy_tokens(float* to, const float* values, const Attention& args, int64_t first,
                                            int count, int head, float otherwise) {
  const auto at = static_cast<int>(threadIdx.x);
  if (at >= kRows) return;
  if (values == nullptr) {
    to[at] = otherwise;
    return;
  }
  const bool valid = at < count;
  copy_async_word(to + at, values + (first + (valid ? at : 0)) * args.heads + head, valid);
}

/// 16 rows of a tile as the A of products: kept in registers where they are few enough, else read again each time.
template <int kDim, bool kKept>
class OwnRows {
 public:
  __device__ __forceinline__ void load(const bf16* tile, int row) {
    tile_ = tile;
    row_ = row;
    if constexpr (kKept) fragments_.load(tile, row);
  }
  /// c += these rows times the transposed rows row .. row + 31 of another tile.
  __device__ __forceinline__ void add_scores_to(float (&c)[4][4], const bf16* other, int row) const {
    if constexpr (kKept) {
      add_scores<kDim>(c, fragments_, other, row);
    } else {
      add_scores<kDim>(c, tile_, row_, other, row);
    }
  }

 private:
  RowFragments<kKept ? kDim : 16> fragments_;
  const bf16* tile_;
  int row_;
};

}  // namespace lengthwise::gpu
