#pragma once
/// Drawing without replacement where every draw must be a function of its index alone.
#include <cstdint>

#include "core/rng.h"

namespace lengthwise {

/// Place `index` of a random order of 0..size-1, in constant memory: permuted(0), permuted(1), ..., permuted(size - 1)
/// are all different, and which order it is depends on the generator's stream alone. index < size <= 2^32.
///
/// A Feistel network exchanges and scrambles the two halves of a number of 2h bits, with 4^h >= size, and is a
/// bijection whatever it scrambles with. Numbers that fall outside the range are sent through again until they fall
/// inside, which each path does since it comes back to where it began; on average fewer than four times.
inline uint64_t permuted(uint64_t index, uint64_t size, const Rng& order) {
  LENGTHWISE_CHECK(index < size && size <= uint64_t{1} << 32, "place {} in an order of {}", index, size);
  unsigned half = 1;
  while (uint64_t{1} << (2 * half) < size) ++half;
  const uint64_t mask = (uint64_t{1} << half) - 1;
  const uint64_t key = mix64(order.key() + mix64(order.index()));
  constexpr uint64_t kRounds = 6;
  do {
    uint64_t left = index >> half;
    uint64_t right = index & mask;
    for (uint64_t round = 0; round < kRounds; ++round) {
      const uint64_t scrambled = mix64(key + (right * kRounds + round) * 0x9e3779b97f4a7c15ull) & mask;
      const uint64_t next = left ^ scrambled;
      left = right;
      right = next;
    }
    index = left << half | right;
  } while (index >= size);
  return index;
}

}  // namespace lengthwise
