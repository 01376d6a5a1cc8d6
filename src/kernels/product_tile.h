#pragma once
/// The innermost part of the matrix products that are made here and not by a library: tiles of 8 x 8 results on the
/// vector units of ARM. Private to kernels/panel_products.cc.
///
/// A tile is the product of two panels, 8 rows of the left operand and 8 columns of the right one, which lie in memory
/// in the order they are read in: `depth` is the direction that is summed over.
///   float     [depth][8]: one multiplication of a vector by a lane for 4 columns of a row;
///   bfloat16  [depth / 4][4 pairs of rows][2][4]: one instruction (BFMMLA) for two rows by two columns by four of
///             depth, summed in float.
/// Every result is summed in order of depth, whatever tile it lies in.
#include <arm_neon.h>

#include <cstdint>
#include <cstring>

#include "kernels/storage.h"

namespace lengthwise::product_detail {

inline constexpr int64_t kSide = 8;  ///< rows and columns of a tile

/// Results of a tile: its 8 rows of 8, as pairs of vectors.
struct TileSums {
  float32x4_t low[kSide], high[kSide];
};

struct FloatPanels {
  using Element = float;
  static constexpr int64_t kDepth = 1;  ///< depth is padded to multiples of this

  /// Rows of the left operand lie side by side in memory and need not be packed: `stride` from one to the next.
  [[gnu::always_inline]] static TileSums rows_by_panel(const float* rows, int64_t stride, const float* panel,
                                                       int64_t depth) {
    TileSums sums;
#pragma GCC unroll 8
    for (int64_t r = 0; r < kSide; ++r) sums.low[r] = sums.high[r] = vdupq_n_f32(0);
    int64_t k = 0;
    for (; k + 4 <= depth; k += 4, panel += 4 * kSide) {
      float32x4_t left[kSide];
#pragma GCC unroll 8
      for (int64_t r = 0; r < kSide; ++r) left[r] = vld1q_f32(rows + r * stride + k);
      add_lane<0>(sums, left, panel);
      add_lane<1>(sums, left, panel + kSide);
      add_lane<2>(sums, left, panel + 2 * kSide);
      add_lane<3>(sums, left, panel + 3 * kSide);
    }
    for (; k < depth; ++k, panel += kSide) {
      const float32x4_t low = vld1q_f32(panel);
      const float32x4_t high = vld1q_f32(panel + 4);
#pragma GCC unroll 8
      for (int64_t r = 0; r < kSide; ++r) {
        sums.low[r] = vfmaq_n_f32(sums.low[r], low, rows[r * stride + k]);
        sums.high[r] = vfmaq_n_f32(sums.high[r], high, rows[r * stride + k]);
      }
    }
    return sums;
  }

  [[gnu::always_inline]] static TileSums panel_by_panel(const float* left, const float* right, int64_t depth) {
    TileSums sums;
#pragma GCC unroll 8
    for (int64_t r = 0; r < kSide; ++r) sums.low[r] = sums.high[r] = vdupq_n_f32(0);
    for (int64_t k = 0; k < depth; ++k, left += kSide, right += kSide) {
      const float32x4_t low = vld1q_f32(right);
      const float32x4_t high = vld1q_f32(right + 4);
      add_rows(sums.low, vld1q_f32(left), vld1q_f32(left + 4), low);
      add_rows(sums.high, vld1q_f32(left), vld1q_f32(left + 4), high);
    }
    return sums;
  }

 private:
  template <int kLane>
  [[gnu::always_inline]] static void add_lane(TileSums& sums, const float32x4_t (&left)[kSide], const float* right) {
    const float32x4_t low = vld1q_f32(right);
    const float32x4_t high = vld1q_f32(right + 4);
#pragma GCC unroll 8
    for (int64_t r = 0; r < kSide; ++r) {
      sums.low[r] = vfmaq_laneq_f32(sums.low[r], low, left[r], kLane);
      sums.high[r] = vfmaq_laneq_f32(sums.high[r], high, left[r], kLane);
    }
  }

  [[gnu::always_inline]] static void add_rows(float32x4_t (&sums)[kSide], float32x4_t first, float32x4_t second,
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

#if defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC)

struct Bf16Panels {
  using Element = Bf16;
  static constexpr int64_t kDepth = 4;

  [[gnu::always_inline]] static TileSums panel_by_panel(const Bf16* left, const Bf16* right, int64_t depth) {
    constexpr int64_t kPairs = kSide / 2;
    float32x4_t sums[kPairs][kPairs];  // each two rows by two columns
#pragma GCC unroll 4
    for (int64_t i = 0; i < kPairs; ++i) {
#pragma GCC unroll 4
      for (int64_t j = 0; j < kPairs; ++j) sums[i][j] = vdupq_n_f32(0);
    }
    for (int64_t k = 0; k < depth; k += kDepth, left += kDepth * kSide, right += kDepth * kSide) {
      bfloat16x8_t columns[kPairs];
#pragma GCC unroll 4
      for (int64_t j = 0; j < kPairs; ++j) columns[j] = load(right + 8 * j);
#pragma GCC unroll 4
      for (int64_t i = 0; i < kPairs; ++i) {
        const bfloat16x8_t rows = load(left + 8 * i);
#pragma GCC unroll 4
        for (int64_t j = 0; j < kPairs; ++j) sums[i][j] = vbfmmlaq_f32(sums[i][j], rows, columns[j]);
      }
    }
    TileSums rows;
#pragma GCC unroll 4
    for (int64_t i = 0; i < kPairs; ++i) {
      rows.low[2 * i] = first_halves(sums[i][0], sums[i][1]);
      rows.high[2 * i] = first_halves(sums[i][2], sums[i][3]);
      rows.low[2 * i + 1] = second_halves(sums[i][0], sums[i][1]);
      rows.high[2 * i + 1] = second_halves(sums[i][2], sums[i][3]);
    }
    return rows;
  }

  /// 8 rows by 8 of depth, rows `stride` apart, into the panel of those rows.
  [[gnu::always_inline]] static void pack_rows(const Bf16* from, int64_t stride, Bf16* panel) {
#pragma GCC unroll 4
    for (int64_t i = 0; i < kSide / 2; ++i) {
      const uint64x2_t first = vreinterpretq_u64_u16(vld1q_u16(bits(from + 2 * i * stride)));
      const uint64x2_t second = vreinterpretq_u64_u16(vld1q_u16(bits(from + (2 * i + 1) * stride)));
      vst1q_u16(bits(panel + 8 * i), vreinterpretq_u16_u64(vzip1q_u64(first, second)));
      vst1q_u16(bits(panel + 8 * i + 4 * kSide), vreinterpretq_u16_u64(vzip2q_u64(first, second)));
    }
  }

  /// 4 of depth by 8 columns, the former `stride` apart, into the panel of those columns.
  [[gnu::always_inline]] static void pack_columns(const Bf16* from, int64_t stride, Bf16* panel) {
    const uint16x8_t a = vld1q_u16(bits(from));
    const uint16x8_t b = vld1q_u16(bits(from + stride));
    const uint16x8_t c = vld1q_u16(bits(from + 2 * stride));
    const uint16x8_t d = vld1q_u16(bits(from + 3 * stride));
    const uint32x4_t ab_low = vreinterpretq_u32_u16(vzip1q_u16(a, b));
    const uint32x4_t ab_high = vreinterpretq_u32_u16(vzip2q_u16(a, b));
    const uint32x4_t cd_low = vreinterpretq_u32_u16(vzip1q_u16(c, d));
    const uint32x4_t cd_high = vreinterpretq_u32_u16(vzip2q_u16(c, d));
    vst1q_u16(bits(panel), vreinterpretq_u16_u32(vzip1q_u32(ab_low, cd_low)));
    vst1q_u16(bits(panel + 8), vreinterpretq_u16_u32(vzip2q_u32(ab_low, cd_low)));
    vst1q_u16(bits(panel + 16), vreinterpretq_u16_u32(vzip1q_u32(ab_high, cd_high)));
    vst1q_u16(bits(panel + 24), vreinterpretq_u16_u32(vzip2q_u32(ab_high, cd_high)));
  }

 private:
  static const uint16_t* bits(const Bf16* x) {
    return &x->bits;
  }
  static uint16_t* bits(Bf16* x) {
    return &x->bits;
  }
  static bfloat16x8_t load(const Bf16* x) {
    return vreinterpretq_bf16_u16(vld1q_u16(&x->bits));
  }
  static float32x4_t first_halves(float32x4_t a, float32x4_t b) {
    return vreinterpretq_f32_f64(vzip1q_f64(vreinterpretq_f64_f32(a), vreinterpretq_f64_f32(b)));
  }
  static float32x4_t second_halves(float32x4_t a, float32x4_t b) {
    return vreinterpretq_f32_f64(vzip2q_f64(vreinterpretq_f64_f32(a), vreinterpretq_f64_f32(b)));
  }
};

#endif

/// y[r][c] = sums for the first `rows` and `columns` of a tile; `stride` from one row of y to the next.
template <class S>
[[gnu::always_inline]] inline void store_tile(const TileSums& sums, int64_t rows, int64_t columns, S* y,
                                              int64_t stride) {
  const auto store_row = [&](int64_t r, S* to) {
    if constexpr (sizeof(S) == sizeof(float)) {
      vst1q_f32(to, sums.low[r]);
      vst1q_f32(to + 4, sums.high[r]);
    } else {
#if defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC)
      const bfloat16x8_t rounded = vcvtq_high_bf16_f32(vcvtq_low_bf16_f32(sums.low[r]), sums.high[r]);
      vst1q_u16(&to->bits, vreinterpretq_u16_bf16(rounded));
#endif
    }
  };
  if (rows == kSide && columns == kSide) {
#pragma GCC unroll 8
    for (int64_t r = 0; r < kSide; ++r) store_row(r, y + r * stride);
    return;
  }
  S whole[kSide * kSide];
#pragma GCC unroll 8
  for (int64_t r = 0; r < kSide; ++r) store_row(r, whole + r * kSide);
  for (int64_t r = 0; r < rows; ++r) std::memcpy(y + r * stride, whole + r * kSide, sizeof(S) * columns);
}

/// y[r][c] += sums, likewise.
[[gnu::always_inline]] inline void add_tile(const TileSums& sums, int64_t rows, int64_t columns, float* y,
                                            int64_t stride) {
  if (rows == kSide && columns == kSide) {
#pragma GCC unroll 8
    for (int64_t r = 0; r < kSide; ++r) {
      float* to = y + r * stride;
      vst1q_f32(to, vaddq_f32(vld1q_f32(to), sums.low[r]));
      vst1q_f32(to + 4, vaddq_f32(vld1q_f32(to + 4), sums.high[r]));
    }
    return;
  }
  float whole[kSide * kSide];
#pragma GCC unroll 8
  for (int64_t r = 0; r < kSide; ++r) {
    vst1q_f32(whole + r * kSide, sums.low[r]);
    vst1q_f32(whole + r * kSide + 4, sums.high[r]);
  }
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) y[r * stride + c] += whole[r * kSide + c];
  }
}

}  // namespace lengthwise::product_detail
