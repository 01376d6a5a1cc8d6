#pragma once
/// The innermost part of the matrix products that are made here and not by a library: tiles of results on the vector
/// units of ARM. Private to kernels/panel_products.cc.
///
/// A tile is the product of two panels, kRows rows of the left operand and 8 columns of the right one, which lie in
/// memory in the order they are read in; `depth` is the direction that is summed over.
///   float     8 rows. [depth][row or column]: one instruction multiplies 4 columns by a row's element;
///   bfloat16  12 rows. [depth / 4][pair of rows or columns][2][4]: one instruction (BFMMLA) multiplies two rows by two
///             columns over four of depth and sums in float. 24 sums are under way at once: that many it takes to have
///             the next ones ready before the last are added.
/// Every result is summed in order of depth, whatever tile it lies in.
#include <arm_neon.h>

#include <cstdint>
#include <cstring>

#include "kernels/storage.h"

namespace lengthwise::product_detail {

inline constexpr int64_t kColumns = 8;  ///< of a tile

/// Results of a tile: its rows of 8, as pairs of vectors.
template <int64_t kRows>
struct TileSums {
  float32x4_t low[kRows], high[kRows];
};

struct FloatPanels {
  using Element = float;
  static constexpr int64_t kDepth = 1;  ///< panels are multiples of this deep
  static constexpr int64_t kRows = 8;

  [[gnu::always_inline]] static TileSums<kRows> product(const float* left, const float* right, int64_t depth) {
    TileSums<kRows> sums;
#pragma GCC unroll 8
    for (int64_t r = 0; r < kRows; ++r) sums.low[r] = sums.high[r] = vdupq_n_f32(0);
    for (int64_t k = 0; k < depth; ++k, left += kRows, right += kColumns) {
      const float32x4_t first = vld1q_f32(left);
      const float32x4_t second = vld1q_f32(left + 4);
      add_rows(sums.low, first, second, vld1q_f32(right));
      add_rows(sums.high, first, second, vld1q_f32(right + 4));
    }
    return sums;
  }

  /// As many of depth as are packed at once.
  static constexpr int64_t kRowsAtOnce = 4;

  /// kRows rows by kRowsAtOnce of depth, rows `stride` apart, into the panel of those rows.
  [[gnu::always_inline]] static void pack_rows(const float* from, int64_t stride, float* panel) {
    pack_four(from, stride, panel);
    pack_four(from + 4 * stride, stride, panel + 4);
  }

  /// kDepth by `kWidth` columns, the former `stride` apart, into the panel of those columns.
  template <int64_t kWidth>
  [[gnu::always_inline]] static void pack_columns(const float* from, int64_t /*stride*/, float* panel) {
    std::memcpy(panel, from, kWidth * sizeof(float));
  }

  /// A right operand from float weights: kDepth by 8 columns, the former `stride` apart ...
  [[gnu::always_inline]] static void fill_columns(const float* from, int64_t stride, float* panel) {
    pack_columns<kColumns>(from, stride, panel);
  }
  /// ... or 8 columns by kRowsAtOnce of depth, columns `stride` apart.
  [[gnu::always_inline]] static void fill_rows(const float* from, int64_t stride, float* panel) {
    static_assert(kRows == kColumns);
    pack_rows(from, stride, panel);
  }

 private:
  [[gnu::always_inline]] static void pack_four(const float* from, int64_t stride, float* panel) {
    const float32x4_t a = vld1q_f32(from);
    const float32x4_t b = vld1q_f32(from + stride);
    const float32x4_t c = vld1q_f32(from + 2 * stride);
    const float32x4_t d = vld1q_f32(from + 3 * stride);
    const float64x2_t ab_even = vreinterpretq_f64_f32(vtrn1q_f32(a, b));
    const float64x2_t ab_odd = vreinterpretq_f64_f32(vtrn2q_f32(a, b));
    const float64x2_t cd_even = vreinterpretq_f64_f32(vtrn1q_f32(c, d));
    const float64x2_t cd_odd = vreinterpretq_f64_f32(vtrn2q_f32(c, d));
    vst1q_f32(panel, vreinterpretq_f32_f64(vtrn1q_f64(ab_even, cd_even)));
    vst1q_f32(panel + kRows, vreinterpretq_f32_f64(vtrn1q_f64(ab_odd, cd_odd)));
    vst1q_f32(panel + 2 * kRows, vreinterpretq_f32_f64(vtrn2q_f64(ab_even, cd_even)));
    vst1q_f32(panel + 3 * kRows, vreinterpretq_f32_f64(vtrn2q_f64(ab_odd, cd_odd)));
  }

  [[gnu::always_inline]] static void add_rows(float32x4_t (&sums)[kRows], float32x4_t first, float32x4_t second,
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
  static constexpr int64_t kRows = 12;

  [[gnu::always_inline]] static TileSums<kRows> product(const Bf16* left, const Bf16* right, int64_t depth) {
    constexpr int64_t kTall = kRows / 2;
    constexpr int64_t kWide = kColumns / 2;
    float32x4_t sums[kTall][kWide];  // each two rows by two columns
#pragma GCC unroll 6
    for (int64_t i = 0; i < kTall; ++i) {
#pragma GCC unroll 4
      for (int64_t j = 0; j < kWide; ++j) sums[i][j] = vdupq_n_f32(0);
    }
    for (int64_t k = 0; k < depth; k += kDepth, left += kDepth * kRows, right += kDepth * kColumns) {
      bfloat16x8_t columns[kWide];
#pragma GCC unroll 4
      for (int64_t j = 0; j < kWide; ++j) columns[j] = load(right + 8 * j);
#pragma GCC unroll 6
      for (int64_t i = 0; i < kTall; ++i) {
        const bfloat16x8_t rows = load(left + 8 * i);
#pragma GCC unroll 4
        for (int64_t j = 0; j < kWide; ++j) sums[i][j] = vbfmmlaq_f32(sums[i][j], rows, columns[j]);
      }
    }
    TileSums<kRows> rows;
#pragma GCC unroll 6
    for (int64_t i = 0; i < kTall; ++i) {
      rows.low[2 * i] = first_halves(sums[i][0], sums[i][1]);
      rows.high[2 * i] = first_halves(sums[i][2], sums[i][3]);
      rows.low[2 * i + 1] = second_halves(sums[i][0], sums[i][1]);
      rows.high[2 * i + 1] = second_halves(sums[i][2], sums[i][3]);
    }
    return rows;
  }

  static constexpr int64_t kRowsAtOnce = 8;

  [[gnu::always_inline]] static void pack_rows(const Bf16* from, int64_t stride, Bf16* panel) {
#pragma GCC unroll 6
    for (int64_t i = 0; i < kRows / 2; ++i) {
      const uint64x2_t first = vreinterpretq_u64_u16(vld1q_u16(bits(from + 2 * i * stride)));
      const uint64x2_t second = vreinterpretq_u64_u16(vld1q_u16(bits(from + (2 * i + 1) * stride)));
      vst1q_u16(bits(panel + 8 * i), vreinterpretq_u16_u64(vzip1q_u64(first, second)));
      vst1q_u16(bits(panel + 8 * i + kDepth * kRows), vreinterpretq_u16_u64(vzip2q_u64(first, second)));
    }
  }

  template <int64_t kWidth>
  [[gnu::always_inline]] static void pack_columns(const Bf16* from, int64_t stride, Bf16* panel) {
    pack_eight(vld1q_u16(bits(from)), vld1q_u16(bits(from + stride)), vld1q_u16(bits(from + 2 * stride)),
               vld1q_u16(bits(from + 3 * stride)), panel);
    if constexpr (kWidth == 12) {
      const auto four = [&](int64_t k) { return vcombine_u16(vld1_u16(bits(from + k * stride + 8)), vdup_n_u16(0)); };
      pack_four(four(0), four(1), four(2), four(3), panel + 32);
    }
  }

  [[gnu::always_inline]] static void fill_columns(const float* from, int64_t stride, Bf16* panel) {
    pack_eight(rounded(from), rounded(from + stride), rounded(from + 2 * stride), rounded(from + 3 * stride), panel);
  }
  [[gnu::always_inline]] static void fill_rows(const float* from, int64_t stride, Bf16* panel) {
#pragma GCC unroll 8
    for (int64_t c = 0; c < kColumns; ++c) {
      const uint16x8_t values = rounded(from + c * stride);
      vst1_u16(bits(panel + kDepth * c), vget_low_u16(values));
      vst1_u16(bits(panel + kDepth * (kColumns + c)), vget_high_u16(values));
    }
  }

 private:
  [[gnu::always_inline]] static void pack_four(uint16x8_t a, uint16x8_t b, uint16x8_t c, uint16x8_t d, Bf16* panel) {
    const uint32x4_t ab = vreinterpretq_u32_u16(vzip1q_u16(a, b));
    const uint32x4_t cd = vreinterpretq_u32_u16(vzip1q_u16(c, d));
    vst1q_u16(bits(panel), vreinterpretq_u16_u32(vzip1q_u32(ab, cd)));
    vst1q_u16(bits(panel + 8), vreinterpretq_u16_u32(vzip2q_u32(ab, cd)));
  }
  [[gnu::always_inline]] static void pack_eight(uint16x8_t a, uint16x8_t b, uint16x8_t c, uint16x8_t d, Bf16* panel) {
    pack_four(a, b, c, d, panel);
    const uint32x4_t ab = vreinterpretq_u32_u16(vzip2q_u16(a, b));
    const uint32x4_t cd = vreinterpretq_u32_u16(vzip2q_u16(c, d));
    vst1q_u16(bits(panel + 16), vreinterpretq_u16_u32(vzip1q_u32(ab, cd)));
    vst1q_u16(bits(panel + 24), vreinterpretq_u16_u32(vzip2q_u32(ab, cd)));
  }
  [[gnu::always_inline]] static uint16x8_t rounded(const float* x) {
    return vreinterpretq_u16_bf16(vcvtq_high_bf16_f32(vcvtq_low_bf16_f32(vld1q_f32(x)), vld1q_f32(x + 4)));
  }
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

[[gnu::always_inline]] inline void store_row(float32x4_t low, float32x4_t high, float* to) {
  vst1q_f32(to, low);
  vst1q_f32(to + 4, high);
}

#if defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC)
[[gnu::always_inline]] inline void store_row(float32x4_t low, float32x4_t high, Bf16* to) {
  vst1q_u16(&to->bits, vreinterpretq_u16_bf16(vcvtq_high_bf16_f32(vcvtq_low_bf16_f32(low), high)));
}
#endif

/// y[r][c] = sums for the first `rows` and `columns` of a tile; `stride` from one row of y to the next.
template <int64_t kRows, class S>
[[gnu::always_inline]] inline void store_tile(const TileSums<kRows>& sums, int64_t rows, int64_t columns, S* y,
                                              int64_t stride) {
  if (rows == kRows && columns == kColumns) {
#pragma GCC unroll 12
    for (int64_t r = 0; r < kRows; ++r) store_row(sums.low[r], sums.high[r], y + r * stride);
    return;
  }
  S whole[kRows * kColumns];
#pragma GCC unroll 12
  for (int64_t r = 0; r < kRows; ++r) store_row(sums.low[r], sums.high[r], whole + r * kColumns);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) y[r * stride + c] = whole[r * kColumns + c];
  }
}

/// y[r][c] += sums, likewise.
template <int64_t kRows>
[[gnu::always_inline]] inline void add_tile(const TileSums<kRows>& sums, int64_t rows, int64_t columns, float* y,
                                            int64_t stride) {
  if (rows == kRows && columns == kColumns) {
#pragma GCC unroll 12
    for (int64_t r = 0; r < kRows; ++r) {
      float* to = y + r * stride;
      store_row(vaddq_f32(vld1q_f32(to), sums.low[r]), vaddq_f32(vld1q_f32(to + 4), sums.high[r]), to);
    }
    return;
  }
  float whole[kRows * kColumns];
#pragma GCC unroll 12
  for (int64_t r = 0; r < kRows; ++r) store_row(sums.low[r], sums.high[r], whole + r * kColumns);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) y[r * stride + c] += whole[r * kColumns + c];
  }
}

}  // namespace lengthwise::product_detail
