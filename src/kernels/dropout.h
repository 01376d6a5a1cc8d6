#pragma once
/// Dropout without stored masks: whether an element is kept is a hash of (seed, row, column), computed again in the
/// backward pass, by the plain twin, and on any device, always with the same result. Two neighbouring elements share
/// one hash of 32 bits: probabilities are multiples of 1 / 65536.
#include <ATen/core/Tensor.h>

#include <bit>
#include <cstdint>
#include <cstring>

namespace lengthwise {

struct Dropout {
  double probability = 0;  ///< 0 turns it off
  uint64_t seed = 0;       ///< one per step, layer and place

  bool active() const { return probability > 0; }
  /// Kept values are multiplied by this.
  double scale() const { return 1.0 / (1.0 - probability); }
  /// Kept when the element's bits are at least this.
  uint32_t threshold() const { return static_cast<uint32_t>(probability * 65536.0 + 0.5); }
};

/// What all elements of a row share.
inline uint32_t dropout_row(uint64_t seed, uint64_t row) {
  uint64_t x = seed + 0x9e3779b97f4a7c15ull * (row + 1);
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93ull;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93ull;
  return static_cast<uint32_t>(x >> 32);
}

/// 32 well-mixed bits of two neighbouring elements; only 32-bit operations, so that it vectorises.
inline uint32_t dropout_hash(uint32_t row, uint32_t pair) {
  uint32_t x = row ^ (pair * 0x9e3779b1u);
  x ^= x >> 16;
  x *= 0x85ebca6bu;
  x ^= x >> 13;
  x *= 0xc2b2ae35u;
  x ^= x >> 16;
  return x;
}

/// The 16 bits of one element.
inline uint32_t dropout_bits(uint32_t row, uint32_t column) {
  const uint32_t x = dropout_hash(row, column >> 1);
  return (column & 1) == 0 ? x & 0xffffu : x >> 16;
}

/// The same for kCount columns from `first` on, both even: each hash is made once.
template <int64_t kCount>
inline void dropout_block(uint32_t row, uint32_t first, uint16_t* bits) {
  static_assert(std::endian::native == std::endian::little, "the lower half of a number lies in front");
  uint32_t hashes[kCount / 2];
  for (uint32_t pair = 0; pair < kCount / 2; ++pair) hashes[pair] = dropout_hash(row, first / 2 + pair);
  std::memcpy(bits, hashes, sizeof(hashes));
}

/// Calls use(column, bits) for the columns [0, width), so that loops over them vectorise.
template <class Use>
inline void for_dropout_bits(uint32_t row, int64_t width, const Use& use) {
  constexpr int64_t kBlock = 64;
  int64_t c = 0;
  for (; c + kBlock <= width; c += kBlock) {
    uint16_t bits[kBlock];
    dropout_block<kBlock>(row, static_cast<uint32_t>(c), bits);
    for (int64_t i = 0; i < kBlock; ++i) use(c + i, static_cast<uint32_t>(bits[i]));
  }
  for (; c < width; ++c) use(c, dropout_bits(row, static_cast<uint32_t>(c)));
}

/// The mask as a tensor [row, column] of 0 and scale(), for the plain twins; ones when inactive.
at::Tensor dropout_mask(const Dropout& dropout, int64_t rows, int64_t columns, const at::TensorOptions& options);

}  // namespace lengthwise
