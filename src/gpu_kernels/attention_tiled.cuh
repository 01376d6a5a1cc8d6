#pragma once
/// What the tiled bfloat16 kernels of attention share.
///
/// A block is a warpgroup. It has 64 rows (queries or keys), 16 to a warp, and walks over tiles of 64 of the others,
/// whose copies to shared memory run two deep. A tile is taken in spans, as wide as registers allow; what one block
/// does with a span hides another block's products. Within half a tile there is no branch, so that loads and arithmetic
/// of different scores overlap; the warps that see nothing of a half leave it out. The biases of a tile are a strip of
/// 127 neighbouring distances.
#include "gpu_kernels/attention_device.cuh"
#include "gpu_kernels/group_tiles.cuh"

namespace lengthwise::gpu {

inline constexpr int kRows = kAttentionTile;
inline constexpr int kHalf = kRows / 2;
inline constexpr int kTiledThreads = kGroupThreads;
inline constexpr int kStrip = 2 * kRows;  ///< the last place is not used

template <int kDim>
inline constexpr int kTileSize = GroupTile<kDim>::kSize;

/// How many columns of scores are in registers at once.
template <int kDim, Terms kTerms>
inline constexpr int kTileSpan = kDim <= 64 && !kHasPairs<kTerms> ? kRows : kHalf;

/// Blocks of the backward pass that shall find room on a multiprocessor: so many registers a thread may have.
template <int kDim>
inline constexpr int kBackwardBlocks = kDim <= 64 ? 3 : 2;

/// Eight numbers times eight others, bfloat16.
__device__ __forceinline__ float dot_eight(const uint4& x, const uint4& y) {
  return low_of(x.x) * low_of(y.x) + high_of(x.x) * high_of(y.x) + low_of(x.y) * low_of(y.y) +
         high_of(x.y) * high_of(y.y) + low_of(x.z) * low_of(y.z) + high_of(x.z) * high_of(y.z) +
         low_of(x.w) * low_of(y.w) + high_of(x.w) * high_of(y.w);
}

/// Columns half .. half + 31 of scores that nobody sees.
template <int kBlocks>
__device__ __forceinline__ void clear_half(float (&s)[kBlocks][4], int half) {
#pragma unroll
  for (int n = half / 8; n < (half + kHalf) / 8; ++n) s[n][0] = s[n][1] = s[n][2] = s[n][3] = 0;
}

/// The biases of distances first .. first + 126, by the threads of a warpgroup; what lies outside the table is never
/// used.
__device__ __forceinline__ void copy_strip(float* strip, const Attention& args, int head, int first) {
  const int distance = first + group_thread();
  const bool valid = distance >= 0 && distance < args.distances && args.table != nullptr;
  const float* from = args.table + head * args.distances + distance;
  copy_async_word(strip + group_thread(), valid ? static_cast<const void*>(from) : args.offsets, valid);
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

}  // namespace lengthwise::gpu
