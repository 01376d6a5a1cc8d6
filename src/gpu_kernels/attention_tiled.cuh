#pragma once
/// What the tiled bfloat16 kernels of attention share.
///
/// A block of four warps has 64 rows (queries or keys), 16 to a warp, and walks over tiles of 64 of the others, whose
/// copies to shared memory run two deep. The biases of a tile are a strip of 127 neighbouring distances.
#include "gpu_kernels/attention_device.cuh"

namespace lengthwise::gpu {

inline constexpr int kRows = kAttentionTile;
inline constexpr int kTiledThreads = 2 * kRows;
inline constexpr int kStrip = 2 * kRows;  ///< the last place is not used

template <int kDim>
inline constexpr int kTileSize = kRows * kTileStride<kDim>;

/// The biases of distances first .. first + 126; what lies outside the table is never used.
__device__ __forceinline__ void copy_strip(float* strip, const Attention& args, int head, int first) {
  const int distance = first + static_cast<int>(threadIdx.x);
  const bool valid = distance >= 0 && distance < args.distances;
  copy_async_word(strip + threadIdx.x, args.table + head * args.distances + (valid ? distance : 0), valid);
}

}  // namespace lengthwise::gpu
