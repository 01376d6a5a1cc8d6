#pragma once
/// The inner loops of the fused CPU attention, over buffers padded to whole vectors. Private to kernels/attention.cc
/// and kernels/cached_attention.cc.
///
/// kDim is the head's width padded to a multiple of kLanes and known to the compiler; loops over it and over blocks of
/// kLanes columns become vector code without a remainder.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/attention_avx.h"
#include "kernels/attention_neon.h"
#include "kernels/exp_negative.h"
#include "kernels/tile_bias.h"

namespace lengthwise::attention_detail {

inline constexpr int64_t kLanes = 16;
inline constexpr int64_t kRows = 8;  ///< queries per tile

#if defined(LENGTHWISE_NATIVE_TILES)
static_assert(kRows == 8 && kLanes == 16, "tiles written by hand are cut for these");
#endif

constexpr int64_t padded(int64_t n) {
  return (n + kLanes - 1) / kLanes * kLanes;
}

// Each loop below keeps about eight vector sums in registers: fewer would wait for the previous addition.

/// scores[r][j] = sum_c rows[r][c] columns[c][j] + the bias, for j < width. `columns` has `stride` elements per c.
template <class T, int64_t kDim>
void row_times_columns(const T* rows, const T* columns, int64_t stride, int64_t width, const TileBias<T>& bias,
                       T* scores, int64_t score_stride) {
#if defined(LENGTHWISE_NATIVE_TILES)
  if constexpr (std::is_same_v<T, float>)
    return native_row_times_columns<kDim>(rows, columns, stride, width, bias, scores, score_stride);
#endif
  for (int64_t j = 0; j < width; j += kLanes) {
    T sum[kRows][kLanes] = {};
    for (int64_t c = 0; c < kDim; ++c) {
      const T* column = columns + c * stride + j;
      for (int64_t r = 0; r < kRows; ++r) {
        const T value = rows[r * kDim + c];
        for (int64_t l = 0; l < kLanes; ++l) sum[r][l] += value * column[l];
      }
    }
    if (bias.table != nullptr) {
      for (int64_t r = 0; r < kRows; ++r) {
        for (int64_t l = 0; l < kLanes; ++l) sum[r][l] += bias.table[j - r + l];
      }
    }
    if (bias.keys != nullptr) {
      for (int64_t r = 0; r < kRows; ++r) {
        for (int64_t l = 0; l < kLanes; ++l) sum[r][l] += bias.keys[j + l] - bias.own[r];
      }
    }
    if (bias.pairs != nullptr) {
      for (int64_t r = 0; r < kRows; ++r) {
        for (int64_t l = 0; l < kLanes; ++l) sum[r][l] += bias.pairs[r * bias.apart + j + l];
      }
    }
    for (int64_t r = 0; r < kRows; ++r) std::memcpy(scores + r * score_stride + j, sum[r], sizeof(sum[r]));
  }
}

/// sums[j - r] += weights[r][j] for all rows and j < width: what the weights of one distance add up to. In front of
/// every row and behind the last one stand kLanes zeros. All rows at once, because the sums of one row overlap those of
/// the row before it, whose stores would have to be waited for.
template <class T>
void add_diagonals(const T* weights, int64_t weight_stride, int64_t width, T* sums) {
  static_assert(kRows <= kLanes);
  for (int64_t j = -kLanes; j < width; j += kLanes) {
    T sum[kLanes];
    std::memcpy(sum, sums + j, sizeof(sum));
    for (int64_t r = 0; r < kRows; ++r) {
      const T* row = weights + r * weight_stride + j + r;
      for (int64_t l = 0; l < kLanes; ++l) sum[l] += row[l];
    }
    std::memcpy(sums + j, sum, sizeof(sum));
  }
}

/// sums[j] += weights[r][j] for all rows and j < width.
template <class T>
void add_columns(const T* weights, int64_t weight_stride, int64_t width, T* sums) {
  for (int64_t j = 0; j < width; j += kLanes) {
    T sum[kLanes];
    std::memcpy(sum, sums + j, sizeof(sum));
    for (int64_t r = 0; r < kRows; ++r) {
      const T* row = weights + r * weight_stride + j;
      for (int64_t l = 0; l < kLanes; ++l) sum[l] += row[l];
    }
    std::memcpy(sums + j, sum, sizeof(sum));
  }
}

/// sums[r][c] = sum_j weights[r][j] rows[j][c] for j < count.
template <class T, int64_t kDim>
void weighted_rows(const T* weights, int64_t weight_stride, const T* rows, int64_t count, T* sums) {
#if defined(LENGTHWISE_NATIVE_TILES)
  if constexpr (std::is_same_v<T, float>) return native_weighted_rows<kDim>(weights, weight_stride, rows, count, sums);
#endif
  constexpr int64_t kWidth = kDim < 2 * kLanes ? kDim : 2 * kLanes;
  constexpr int64_t kAtOnce = 4;
  for (int64_t r = 0; r < kRows; r += kAtOnce) {
    for (int64_t c = 0; c < kDim; c += kWidth) {
      T sum[kAtOnce][kWidth] = {};
      for (int64_t j = 0; j < count; ++j) {
        const T* row = rows + j * kDim + c;
        for (int64_t q = 0; q < kAtOnce; ++q) {
          const T weight = weights[(r + q) * weight_stride + j];
          for (int64_t l = 0; l < kWidth; ++l) sum[q][l] += weight * row[l];
        }
      }
      for (int64_t q = 0; q < kAtOnce; ++q) std::memcpy(sums + (r + q) * kDim + c, sum[q], sizeof(sum[q]));
    }
  }
}

/// sums[j][c] += sum_r weights[r][j] rows[r][c] for j < width: the transposed product of the backward pass.
template <class T, int64_t kDim>
void transposed_weighted_rows(const T* weights, int64_t weight_stride, const T* rows, int64_t width, T* sums) {
#if defined(LENGTHWISE_NATIVE_TILES)
  if constexpr (std::is_same_v<T, float>)
    return native_transposed_weighted_rows<kDim>(weights, weight_stride, rows, width, sums);
#endif
  constexpr int64_t kWidth = kDim < 2 * kLanes ? kDim : 2 * kLanes;
  constexpr int64_t kAtOnce = 4;
  for (int64_t j = 0; j < width; j += kAtOnce) {
    for (int64_t c = 0; c < kDim; c += kWidth) {
      T sum[kAtOnce][kWidth];
      for (int64_t q = 0; q < kAtOnce; ++q) std::memcpy(sum[q], sums + (j + q) * kDim + c, sizeof(sum[q]));
      for (int64_t r = 0; r < kRows; ++r) {
        const T* row = rows + r * kDim + c;
        for (int64_t q = 0; q < kAtOnce; ++q) {
          const T weight = weights[r * weight_stride + j + q];
          for (int64_t l = 0; l < kWidth; ++l) sum[q][l] += weight * row[l];
        }
      }
      for (int64_t q = 0; q < kAtOnce; ++q) std::memcpy(sums + (j + q) * kDim + c, sum[q], sizeof(sum[q]));
    }
  }
}

// Rows are whole vectors long, and counted in 32 bits like their elements: then loops with a condition vectorise too.

/// Written with vectors, because the compiler makes none of a running maximum.
template <class T>
T largest_of(const T* row, int32_t keys, int32_t width) {
#if defined(LENGTHWISE_NATIVE_TILES)
  if constexpr (std::is_same_v<T, float>) return native_largest_of(row, keys);
#endif
  using Index = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  using Vector [[gnu::vector_size(kLanes * sizeof(T))]] = T;
  using Indices [[gnu::vector_size(kLanes * sizeof(T))]] = Index;
  Indices lane;
  for (Index l = 0; l < kLanes; ++l) lane[l] = l;
  Vector most = Vector{} + row[0];
  for (int32_t b = 0; b < width; b += kLanes) {
    Vector block;
    std::memcpy(&block, row + b, sizeof(block));
    const Indices better = (lane < static_cast<Index>(keys - b)) & (block > most);
    most = better ? block : most;
  }
  T largest = most[0];
  for (int64_t l = 1; l < kLanes; ++l) largest = most[l] > largest ? most[l] : largest;
  return largest;
}

/// Turns the pairs (2c, 2c+1) of a row by angles given as cos and sin; sign -1 turns them back.
template <class T>
void rotate_pairs(T* row, const T* cos, const T* sin, int64_t pairs, T sign) {
  for (int64_t c = 0; c < pairs; ++c) {
    const T a = row[2 * c];
    const T b = row[2 * c + 1];
    row[2 * c] = a * cos[c] - sign * b * sin[c];
    row[2 * c + 1] = b * cos[c] + sign * a * sin[c];
  }
}

/// In place over a row of `width` scores, of which the first `keys` count and the others become 0: softmax. Gives the
/// logarithm of the denominator.
template <class T>
T softmax_row(T* row, int32_t keys, int32_t width) {
  const T largest = largest_of(row, keys, width);
#if defined(LENGTHWISE_NATIVE_SOFTMAX)
  if constexpr (std::is_same_v<T, float>) return native_softmax_row(row, largest, keys, width);
#endif
  T sum = 0;
  for (int32_t j = 0; j < width; ++j) {
    const T weight = exp_negative(std::min(row[j] - largest, T(0)));
    row[j] = j < keys ? weight : T(0);
    sum += row[j];
  }
  const T inverse = T(1) / sum;
  for (int32_t j = 0; j < width; ++j) row[j] *= inverse;
  return largest + std::log(sum);
}

/// With `mask(j)` known to the compiler where it is 1.
template <class T, class Mask>
void softmax_row_backward_by(T log_sum, int32_t keys, int32_t width, const Mask& mask, T* __restrict p,
                             T* __restrict ds) {
  T dot = 0;
  T sum = 0;
  for (int32_t j = 0; j < width; ++j) {
    const T weight = exp_negative(std::min(p[j] - log_sum, T(0)));
    p[j] = j < keys ? weight : T(0);
    ds[j] *= mask(j);
    dot += p[j] * ds[j];
    sum += p[j];
  }
  dot /= sum;
  for (int32_t j = 0; j < width; ++j) {
    ds[j] = p[j] * (ds[j] - dot);
    p[j] *= mask(j);
  }
}

/// p: scores -> weights, ds: gradient of the weights -> gradient of the scores, from the logarithm of the denominator.
/// `mask`, if there is one, multiplies weights: p becomes the masked ones. Beyond `keys` both become 0.
template <class T>
void softmax_row_backward(T log_sum, int32_t keys, int32_t width, const T* __restrict mask, T* p, T* ds) {
#if defined(LENGTHWISE_NATIVE_SOFTMAX)
  if constexpr (std::is_same_v<T, float>) return native_softmax_row_backward(log_sum, keys, width, mask, p, ds);
#endif
  if (mask == nullptr) {
    softmax_row_backward_by(
        log_sum, keys, width, [](int32_t) { return T(1); }, p, ds);
  } else {
    softmax_row_backward_by(
        log_sum, keys, width, [=](int32_t j) { return mask[j]; }, p, ds);
  }
}

}  // namespace lengthwise::attention_detail
