#pragma once
/// The inner loops of the fused CPU attention, over buffers padded to whole vectors. Private to kernels/attention.cc.
///
/// kDim is the head's width padded to a multiple of kLanes and known to the compiler; loops over it and over blocks of
/// kLanes columns become vector code without a remainder.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace lengthwise::attention_detail {

inline constexpr int64_t kLanes = 16;
inline constexpr int64_t kRows = 8;  ///< queries per tile

constexpr int64_t padded(int64_t n) {
  return (n + kLanes - 1) / kLanes * kLanes;
}

/// e^x for x <= 0 without a call, so that loops over it vectorise; relative error below 2e-7. Underflows to 0.
inline float exp_negative(float x) {
  x = std::max(x, -87.0f);
  const float n = std::nearbyint(x * 1.44269504088896341f);
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  return p * std::bit_cast<float>((static_cast<int32_t>(n) + 127) << 23);
}
inline double exp_negative(double x) {
  return std::exp(x);
}

/// scores[r][j] = sum_c rows[r][c] columns[c][j] for j < width. `columns` has `stride` elements per c.
template <class T, int64_t kDim>
void row_times_columns(const T* rows, const T* columns, int64_t stride, int64_t width, T* scores,
                       int64_t score_stride) {
  for (int64_t j = 0; j < width; j += kLanes) {
    for (int64_t r = 0; r < kRows; r += 4) {
      T sum[4][kLanes] = {};
      for (int64_t c = 0; c < kDim; ++c) {
        const T* column = columns + c * stride + j;
        for (int64_t q = 0; q < 4; ++q) {
          const T value = rows[(r + q) * kDim + c];
          for (int64_t l = 0; l < kLanes; ++l) sum[q][l] += value * column[l];
        }
      }
      for (int64_t q = 0; q < 4; ++q) std::memcpy(scores + (r + q) * score_stride + j, sum[q], sizeof(sum[q]));
    }
  }
}

/// sums[r][c] += sum_j weights[r][j] rows[j][c] for j < count.
template <class T, int64_t kDim>
void weighted_rows(const T* weights, int64_t weight_stride, const T* rows, int64_t count, T* sums) {
  for (int64_t r = 0; r < kRows; r += 2) {
    for (int64_t c = 0; c < kDim; c += 2 * kLanes) {
      constexpr int64_t kWidth = kDim < 2 * kLanes ? kDim : 2 * kLanes;
      T sum[2][kWidth] = {};
      for (int64_t j = 0; j < count; ++j) {
        const T* row = rows + j * kDim + c;
        for (int64_t q = 0; q < 2; ++q) {
          const T weight = weights[(r + q) * weight_stride + j];
          for (int64_t l = 0; l < kWidth; ++l) sum[q][l] += weight * row[l];
        }
      }
      for (int64_t q = 0; q < 2; ++q) {
        for (int64_t l = 0; l < kWidth; ++l) sums[(r + q) * kDim + c + l] += sum[q][l];
      }
    }
  }
}

/// sums[j][c] += sum_r weights[r][j] rows[r][c] for j < count: the transposed product of the backward pass.
template <class T, int64_t kDim>
void transposed_weighted_rows(const T* weights, int64_t weight_stride, const T* rows, int64_t count, T* sums) {
  for (int64_t j = 0; j < count; ++j) {
    T* sum = sums + j * kDim;
    for (int64_t r = 0; r < kRows; ++r) {
      const T weight = weights[r * weight_stride + j];
      const T* row = rows + r * kDim;
      for (int64_t c = 0; c < kDim; ++c) sum[c] += weight * row[c];
    }
  }
}

}  // namespace lengthwise::attention_detail
