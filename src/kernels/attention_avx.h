#pragma once
/// The inner loops of the fused attention (kernels/attention_tile.h, which says what each computes) for float on x86
/// with AVX2 or AVX-512. Written with vectors: of plain loops the compiler makes code that keeps too few sums in
/// registers. Private to kernels/attention_tile.h.
#if defined(__AVX2__)

#define LENGTHWISE_NATIVE_TILES 1
#define LENGTHWISE_NATIVE_SOFTMAX 1

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels/exp_negative.h"
#include "kernels/tile_bias.h"

namespace lengthwise::attention_detail {

#if defined(__AVX512F__)
inline constexpr int64_t kFloats = 16;  ///< numbers of a vector
inline constexpr int64_t kSums = 16;    ///< vectors of sums at once, of 32 registers
#else
inline constexpr int64_t kFloats = 8;
inline constexpr int64_t kSums = 8;  ///< of 16 registers
#endif

using Floats [[gnu::vector_size(kFloats * sizeof(float))]] = float;
using Ints [[gnu::vector_size(kFloats * sizeof(int32_t))]] = int32_t;

[[gnu::always_inline]] inline Floats load_floats(const float* from) {
  Floats vector;
  std::memcpy(&vector, from, sizeof(vector));
  return vector;
}

[[gnu::always_inline]] inline void store_floats(Floats vector, float* to) {
  std::memcpy(to, &vector, sizeof(vector));
}

/// Sums in registers: rows of kColumns numbers, as many rows as there is room for.
template <int64_t kColumns>
struct AvxTile {
  static constexpr int64_t kAcross = kColumns / kFloats;
  static constexpr int64_t kTall = std::min<int64_t>(8, kSums / kAcross);
  static constexpr int64_t kCount = kTall * kAcross;
  Floats sums[kCount];

  [[gnu::always_inline]] void clear() {
#pragma GCC unroll 16
    for (int64_t i = 0; i < kCount; ++i) sums[i] = Floats{};
  }
  [[gnu::always_inline]] void load(const float* from, int64_t stride) {
#pragma GCC unroll 16
    for (int64_t i = 0; i < kCount; ++i) sums[i] = load_floats(from + i / kAcross * stride + i % kAcross * kFloats);
  }
  [[gnu::always_inline]] void store(float* to, int64_t stride) const {
#pragma GCC unroll 16
    for (int64_t i = 0; i < kCount; ++i) store_floats(sums[i], to + i / kAcross * stride + i % kAcross * kFloats);
  }
  /// tile[r] += left[r * left_stride] times a row.
  [[gnu::always_inline]] void add(const float* left, int64_t left_stride, const float* row) {
    Floats right[kAcross];
#pragma GCC unroll 4
    for (int64_t v = 0; v < kAcross; ++v) right[v] = load_floats(row + v * kFloats);
#pragma GCC unroll 16
    for (int64_t i = 0; i < kCount; ++i) sums[i] += left[i / kAcross * left_stride] * right[i % kAcross];
  }
  /// tile[r] += the row that begins at from + r * step, less own[r].
  [[gnu::always_inline]] void add_rows(const float* from, int64_t step, const float* own) {
#pragma GCC unroll 16
    for (int64_t i = 0; i < kCount; ++i) {
      const int64_t r = i / kAcross;
      sums[i] += load_floats(from + r * step + i % kAcross * kFloats) - (own == nullptr ? 0.0f : own[r]);
    }
  }
};

/// The tile of a product whose result has rows of kDim: wide ones read fewer numbers.
template <int64_t kDim>
using WideTile = AvxTile<kSums == 16 && kDim >= 32 ? 32 : 16>;

template <int64_t kDim>
void native_row_times_columns(const float* rows, const float* columns, int64_t stride, int64_t width,
                              const TileBias<float>& bias, float* scores, int64_t score_stride) {
  using Tile = AvxTile<16>;
  for (int64_t j = 0; j < width; j += 16) {
    for (int64_t r = 0; r < 8; r += Tile::kTall) {
      Tile tile;
      tile.clear();
      for (int64_t c = 0; c < kDim; ++c) tile.add(rows + r * kDim + c, kDim, columns + c * stride + j);
      if (bias.table != nullptr) tile.add_rows(bias.table + j - r, -1, nullptr);
      if (bias.keys != nullptr) tile.add_rows(bias.keys + j, 0, bias.own + r);
      if (bias.pairs != nullptr) {
        const float* pairs = bias.pairs + r * bias.apart + j;
        // Those of the next tile of queries: each row stands in a page of its own.
        for (int64_t i = 0; i < Tile::kTall; ++i) __builtin_prefetch(pairs + (i + 8) * bias.apart);
        tile.add_rows(pairs, bias.apart, nullptr);
      }
      tile.store(scores + r * score_stride + j, score_stride);
    }
  }
}

template <int64_t kDim>
void native_weighted_rows(const float* weights, int64_t weight_stride, const float* rows, int64_t count, float* sums) {
  using Tile = WideTile<kDim>;
  for (int64_t r = 0; r < 8; r += Tile::kTall) {
    for (int64_t c = 0; c < kDim; c += Tile::kAcross * kFloats) {
      Tile tile;
      tile.clear();
      for (int64_t j = 0; j < count; ++j) tile.add(weights + r * weight_stride + j, weight_stride, rows + j * kDim + c);
      tile.store(sums + r * kDim + c, kDim);
    }
  }
}

template <int64_t kDim>
void native_transposed_weighted_rows(const float* weights, int64_t weight_stride, const float* rows, int64_t width,
                                     float* sums) {
  using Tile = WideTile<kDim>;
  for (int64_t j = 0; j < width; j += Tile::kTall) {
    for (int64_t c = 0; c < kDim; c += Tile::kAcross * kFloats) {
      Tile tile;
      tile.load(sums + j * kDim + c, kDim);
#pragma GCC unroll 8
      for (int64_t r = 0; r < 8; ++r) tile.add(weights + r * weight_stride + j, 1, rows + r * kDim + c);
      tile.store(sums + j * kDim + c, kDim);
    }
  }
}

[[gnu::always_inline]] inline Ints numbers_of_lanes() {
  Ints lanes{};
  for (int32_t l = 0; l < kFloats; ++l) lanes[l] = l;
  return lanes;
}

inline float native_largest_of(const float* row, int32_t keys) {
  const Ints lanes = numbers_of_lanes();
  Floats most = Floats{} + row[0];
  for (int32_t j = 0; j < keys; j += kFloats) {
    const Floats scores = load_floats(row + j);
    most = ((lanes < keys - j) & (scores > most)) ? scores : most;
  }
  float largest = most[0];
  for (int64_t l = 1; l < kFloats; ++l) largest = std::max(largest, most[l]);
  return largest;
}

/// exp_negative of every number.
[[gnu::always_inline]] inline Floats exp_of_each(Floats x) {
  const Floats least = Floats{} + kLeastExponent;
  const Ints nothing = x < least;
  x = nothing ? least : x;
  const Ints n = __builtin_convertvector(x * 1.44269504088896341f - 0.5f, Ints);  // to the nearest, since x <= 0
  const Ints exponent = (n + 127) << 23;
  Floats power;
  std::memcpy(&power, &exponent, sizeof(power));
  return nothing ? Floats{} : exp_of_rest(x, __builtin_convertvector(n, Floats)) * power;
}

[[gnu::always_inline]] inline float sum_of(Floats vector) {
  float sum = 0;
  for (int64_t l = 0; l < kFloats; ++l) sum += vector[l];
  return sum;
}

/// e^(score - most), 0 for keys from `keys` on; `j` is the first of these.
[[gnu::always_inline]] inline Floats weights_of(Floats scores, float most, int32_t j, int32_t keys) {
  const Floats below = scores - most;
  const Floats weights = exp_of_each(below < 0.0f ? below : Floats{});
  return j + kFloats <= keys ? weights : numbers_of_lanes() < keys - j ? weights : Floats{};
}

inline float native_softmax_row(float* row, float largest, int32_t keys, int32_t width) {
  Floats sums{};
  for (int32_t j = 0; j < width; j += kFloats) {
    const Floats weights = weights_of(load_floats(row + j), largest, j, keys);
    store_floats(weights, row + j);
    sums += weights;
  }
  const float sum = sum_of(sums);
  const float inverse = 1.0f / sum;
  for (int32_t j = 0; j < width; j += kFloats) store_floats(load_floats(row + j) * inverse, row + j);
  return largest + std::log(sum);
}

inline void native_softmax_row_backward(float log_sum, int32_t keys, int32_t width, const float* mask, float* p,
                                        float* ds) {
  const auto masked = [mask](Floats values, int32_t j) {
    return mask == nullptr ? values : values * load_floats(mask + j);
  };
  Floats dots{}, sums{};
  for (int32_t j = 0; j < width; j += kFloats) {
    const Floats weights = weights_of(load_floats(p + j), log_sum, j, keys);
    const Floats gradients = masked(load_floats(ds + j), j);
    store_floats(weights, p + j);
    store_floats(gradients, ds + j);
    dots += weights * gradients;
    sums += weights;
  }
  const float dot = sum_of(dots) / sum_of(sums);
  for (int32_t j = 0; j < width; j += kFloats) {
    const Floats weights = load_floats(p + j);
    store_floats(weights * (load_floats(ds + j) - dot), ds + j);
    if (mask != nullptr) store_floats(masked(weights, j), p + j);
  }
}

}  // namespace lengthwise::attention_detail

#endif
