#pragma once
/// The shapes that the kernels run. Nothing of CUDA in here: a build without it can say, too, what a GPU would refuse
/// (gpu/refusal.h), and the launchers refuse by the same numbers.
#include <cstdint>

namespace lengthwise::gpu {

/// Dims of a head: multiples of kHeadStep.
inline constexpr int64_t kHeadStep = 8;
inline constexpr int64_t kMostHeadDim = 128;
constexpr bool runs_head(int64_t dim) {
  return dim >= kHeadStep && dim <= kMostHeadDim && dim % kHeadStep == 0;
}

/// Width of the residual stream: multiples of kWidthStep.
inline constexpr int64_t kWidthStep = 4;
inline constexpr int64_t kMostWidth = 8192;
constexpr bool runs_width(int64_t width) {
  return width > 0 && width <= kMostWidth && width % kWidthStep == 0;
}

/// Hidden width of the feed-forward: multiples of this.
inline constexpr int64_t kHiddenStep = 8;

/// Sequences of a training batch.
inline constexpr int64_t kMostSequences = 65527;

/// Tokens of a sequence whose bias table learns, and of one whose keys and values are kept.
inline constexpr int64_t kMostLearningDistances = 8192;
inline constexpr int64_t kMostKeptTokens = 50000;

}  // namespace lengthwise::gpu
