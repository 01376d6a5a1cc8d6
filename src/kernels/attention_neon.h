#pragma once
/// The products inside a tile of the fused attention (kernels/attention_tile.h), and what else the compiler makes no
/// good vectors of, for float on ARM's vector units. Same sums in the same order as the portable loops. Private to
/// kernels/attention_tile.h.
///
/// Products work on 8 rows by 8 columns at once: 16 vectors of sums, and an element of the other side is multiplied in
/// by its lane.
#if defined(__ARM_NEON)

#define LENGTHWISE_NATIVE_TILES 1

#include <arm_neon.h>

#include <cstdint>

#include "kernels/tile_bias.h"

namespace lengthwise::attention_detail {

struct NeonTile {
  float32x4_t low[8], high[8];

  [[gnu::always_inline]] void clear() {
#pragma GCC unroll 8
    for (int64_t r = 0; r < 8; ++r) low[r] = high[r] = vdupq_n_f32(0);
  }
  [[gnu::always_inline]] void load(const float* from, int64_t stride) {
#pragma GCC unroll 8
    for (int64_t r = 0; r < 8; ++r) {
      low[r] = vld1q_f32(from + r * stride);
      high[r] = vld1q_f32(from + r * stride + 4);
    }
  }
  [[gnu::always_inline]] void store(float* to, int64_t stride) const {
#pragma GCC unroll 8
    for (int64_t r = 0; r < 8; ++r) {
      vst1q_f32(to + r * stride, low[r]);
      vst1q_f32(to + r * stride + 4, high[r]);
    }
  }

  /// tile[r] += left[r][0..3] times the four rows of `right`.
  [[gnu::always_inline]] void add_four(const float* left, int64_t left_stride, const float* right,
                                       int64_t right_stride) {
    float32x4_t values[8];
#pragma GCC unroll 8
    for (int64_t r = 0; r < 8; ++r) values[r] = vld1q_f32(left + r * left_stride);
    add_lane<0>(values, right);
    add_lane<1>(values, right + right_stride);
    add_lane<2>(values, right + 2 * right_stride);
    add_lane<3>(values, right + 3 * right_stride);
  }

  /// Of the columns from `j` on.
  [[gnu::always_inline]] void add_bias(const TileBias<float>& bias, int64_t j) {
    if (bias.table != nullptr) add_rows_of(bias.table + j, -1);
    if (bias.pairs != nullptr) add_rows_of(bias.pairs + j, bias.apart);
    if (bias.keys == nullptr) return;
    const float32x4_t near = vld1q_f32(bias.keys + j);
    const float32x4_t far = vld1q_f32(bias.keys + j + 4);
#pragma GCC unroll 8
    for (int64_t r = 0; r < 8; ++r) {
      const float32x4_t less = vdupq_n_f32(bias.own[r]);
      low[r] = vaddq_f32(low[r], vsubq_f32(near, less));
      high[r] = vaddq_f32(high[r], vsubq_f32(far, less));
    }
  }

  /// tile[r] += left[r] times a row of 8, both side by side in memory.
  [[gnu::always_inline]] void add_outer(const float* left, const float* right) {
    const float32x4_t first = vld1q_f32(left);
    const float32x4_t second = vld1q_f32(left + 4);
    add_rows(low, first, second, vld1q_f32(right));
    add_rows(high, first, second, vld1q_f32(right + 4));
  }

 private:
  /// tile[r] += the row that begins at from + r * step.
  [[gnu::always_inline]] void add_rows_of(const float* from, int64_t step) {
#pragma GCC unroll 8
    for (int64_t r = 0; r < 8; ++r) {
      low[r] = vaddq_f32(low[r], vld1q_f32(from + r * step));
      high[r] = vaddq_f32(high[r], vld1q_f32(from + r * step + 4));
    }
  }
  template <int kLane>
  [[gnu::always_inline]] void add_lane(const float32x4_t (&values)[8], const float* right) {
    const float32x4_t near = vld1q_f32(right);
    const float32x4_t far = vld1q_f32(right + 4);
#pragma GCC unroll 8
    for (int64_t r = 0; r < 8; ++r) {
      low[r] = vfmaq_laneq_f32(low[r], near, values[r], kLane);
      high[r] = vfmaq_laneq_f32(high[r], far, values[r], kLane);
    }
  }
  [[gnu::always_inline]] static void add_rows(float32x4_t (&sums)[8], float32x4_t first, float32x4_t second,
                                              float32x4_t right) {
    sums[0] = vfmaq_laneq_f32(sums[0], right, first, 0);
    sums[1] = vfmaq_laneq_f32(sums[1], right, first, 1);
    sums[2] = vfmaq_laneq_f32(sums[2], right, first, 2);
    sums[3] = vfmaq_laneq_f32(sums[3], right, first, 3);
    sums[4] = vfmaq_laneq_f32(sums[4], right, second, 0);
    sums[5] = vfmaq_laneq_f32(sums[5], right, second, 1);
    sums[6] = vfmaq_laneq_f32(sums[6], right, second, 2);
    sums[7] = vfmaq_laneq_f32(sums[7], right, second, 3);
  }
};

template <int64_t kDim>
void native_row_times_columns(const float* rows, const float* columns, int64_t stride, int64_t width,
                              const TileBias<float>& bias, float* scores, int64_t score_stride) {
  for (int64_t j = 0; j < width; j += 8) {
    NeonTile tile;
    tile.clear();
    for (int64_t c = 0; c < kDim; c += 4) tile.add_four(rows + c, kDim, columns + c * stride + j, stride);
    tile.add_bias(bias, j);
    tile.store(scores + j, score_stride);
  }
}

/// Reads weights and rows up to the next multiple of 4 behind `count`: there the weights are 0, and the rows padding.
template <int64_t kDim>
void native_weighted_rows(const float* weights, int64_t weight_stride, const float* rows, int64_t count, float* sums) {
  for (int64_t c = 0; c < kDim; c += 8) {
    NeonTile tile;
    tile.clear();
    for (int64_t j = 0; j < count; j += 4) tile.add_four(weights + j, weight_stride, rows + j * kDim + c, kDim);
    tile.store(sums + c, kDim);
  }
}

template <int64_t kDim>
void native_transposed_weighted_rows(const float* weights, int64_t weight_stride, const float* rows, int64_t width,
                                     float* sums) {
  for (int64_t j = 0; j < width; j += 8) {
    for (int64_t c = 0; c < kDim; c += 8) {
      NeonTile tile;
      tile.load(sums + j * kDim + c, kDim);
#pragma GCC unroll 8
      for (int64_t r = 0; r < 8; ++r) tile.add_outer(weights + r * weight_stride + j, rows + r * kDim + c);
      tile.store(sums + j * kDim + c, kDim);
    }
  }
}

/// columns[c][i] = rows[i][c] for i < count, a multiple of 4; `count` elements per c.
template <int64_t kDim>
void neon_transpose(const float* rows, int64_t count, float* columns) {
  for (int64_t i = 0; i < count; i += 4) {
    for (int64_t c = 0; c < kDim; c += 4) {
      const float* from = rows + i * kDim + c;
      const float32x4_t a = vld1q_f32(from);
      const float32x4_t b = vld1q_f32(from + kDim);
      const float32x4_t d = vld1q_f32(from + 2 * kDim);
      const float32x4_t e = vld1q_f32(from + 3 * kDim);
      const float64x2_t ab_even = vreinterpretq_f64_f32(vtrn1q_f32(a, b));
      const float64x2_t ab_odd = vreinterpretq_f64_f32(vtrn2q_f32(a, b));
      const float64x2_t de_even = vreinterpretq_f64_f32(vtrn1q_f32(d, e));
      const float64x2_t de_odd = vreinterpretq_f64_f32(vtrn2q_f32(d, e));
      float* to = columns + c * count + i;
      vst1q_f32(to, vreinterpretq_f32_f64(vtrn1q_f64(ab_even, de_even)));
      vst1q_f32(to + count, vreinterpretq_f32_f64(vtrn1q_f64(ab_odd, de_odd)));
      vst1q_f32(to + 2 * count, vreinterpretq_f32_f64(vtrn2q_f64(ab_even, de_even)));
      vst1q_f32(to + 3 * count, vreinterpretq_f32_f64(vtrn2q_f64(ab_odd, de_odd)));
    }
  }
}

inline float native_largest_of(const float* row, int32_t keys) {
  float32x4_t most = vdupq_n_f32(row[0]);
  int32_t j = 0;
  for (; j + 4 <= keys; j += 4) most = vmaxq_f32(most, vld1q_f32(row + j));
  float largest = vmaxvq_f32(most);
  for (; j < keys; ++j) largest = row[j] > largest ? row[j] : largest;
  return largest;
}

}  // namespace lengthwise::attention_detail

#endif
