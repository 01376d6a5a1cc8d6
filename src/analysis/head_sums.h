#pragma once
/// What every head of a model did with sequences of one number of tokens: sums over queries and sequences, gathered
/// through model/inspect.h, so that memory does not grow with the square of the length.
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "model/decoder.h"

namespace lengthwise {

inline constexpr int64_t kOffsets = 9;  ///< distances 0 .. 8 are looked at one by one
inline constexpr int64_t kNear = 8;     ///< tokens that count as near: distances 0 .. 7

/// Means over queries and sequences, each [layer, head] double on the CPU unless said otherwise. Query i, from 0, sees
/// the keys 0 .. i. The first kNear queries see nothing but near keys and count for nothing here.
struct HeadSums {
  at::Tensor offsets;   ///< [layer, head, offset] weight on the key at that distance
  at::Tensor least;     ///< [layer, head, offset] the least of these weights over queries and sequences
  at::Tensor first;     ///< weight on the first token
  at::Tensor near;      ///< weight on distances below kNear
  at::Tensor uneven;    ///< total variation from uniform weights: sum |weight - 1/(i + 1)| / 2
  at::Tensor entropy;   ///< of the weights, in parts of ln(i + 1)
  at::Tensor distance;  ///< mean attended distance, in parts of i
  at::Tensor furthest;  ///< distance of the key with the highest score, (i - key) / (i + 1)
  at::Tensor survives;  ///< <a, b> / <a, a> of the weights of one query in two sequences; 1: content does not matter
  at::Tensor profile;   ///< [layer, head, distance] mean score less the row's mean, distances 0 .. tokens / 2 - 1
};

/// All sequences have the same number of tokens, at least 2 kNear.
HeadSums sum_heads(const Decoder& decoder, const std::vector<std::vector<int64_t>>& sequences);

/// [layer, head] weight from the second occurrence of a token to the one behind its first, for sequences of a first
/// token and a block twice: [first, x_1 .. x_m, x_1 .. x_m].
at::Tensor induction_scores(const Decoder& decoder, const std::vector<std::vector<int64_t>>& sequences);

}  // namespace lengthwise
