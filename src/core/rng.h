#pragma once
/// A counter-based random generator with named streams: the same numbers on every platform, compiler and thread count.
///
/// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011). A generator is a key and a
/// 128-bit counter whose upper half is an index chosen by the caller, so that item `i` of a collection has random
/// numbers of its own whatever was drawn before it and in whichever thread:
///
///     Rng root(seed);
///     Rng train = root.stream("train");      // adding a stream never moves another stream's numbers
///     Rng rng = train.at(i);                 // the numbers of item i
///
/// Distributions are ours as well, since those of the standard library differ between implementations.
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "core/error.h"

namespace lengthwise {

class Rng {
 public:
  explicit Rng(uint64_t seed) : key_(seed) {}

  /// A generator whose numbers depend on this one's key and index and on the name, not on how far it has been drawn.
  Rng stream(std::string_view name) const;

  /// The same stream from its start at another index (2^64 of them, each 2^66 numbers long).
  Rng at(uint64_t index) const {
    Rng child(key_);
    child.index_ = index;
    return child;
  }

  /// Leaves out as many blocks of four times 32 bits of a generator that stands between two of them, as a new one does.
  void skip_blocks(uint64_t count) {
    LENGTHWISE_CHECK(used_ == 4, "{} numbers of a block were drawn", used_);
    block_ += count;
  }

  /// The next 32 random bits.
  uint32_t next() {
    if (used_ == 4) refill();
    return buffer_[used_++];
  }
  uint64_t next64() {
    const uint64_t low = next();
    return low | (static_cast<uint64_t>(next()) << 32);
  }

  /// Uniform in 0..bound-1 without bias (Lemire's multiplication with rejection). bound >= 1.
  uint64_t below(uint64_t bound);

  /// Uniform in low..high, both included.
  int64_t between(int64_t low, int64_t high) {
    LENGTHWISE_CHECK(low <= high, "between({}, {})", low, high);
    return low + static_cast<int64_t>(below(static_cast<uint64_t>(high - low) + 1));
  }

  /// Uniform in [0, 1) in steps of 2^-53.
  double uniform() { return static_cast<double>(next64() >> 11) * 0x1.0p-53; }

  bool coin() { return (next() >> 31) != 0; }

  /// Fisher-Yates.
  template <class T>
  void shuffle(std::span<T> items) {
    for (size_t left = items.size(); left > 1; --left) std::swap(items[left - 1], items[below(left)]);
  }

  uint64_t key() const { return key_; }
  uint64_t index() const { return index_; }

 private:
  void refill();

  uint64_t key_ = 0;
  uint64_t index_ = 0;
  uint64_t block_ = 0;
  std::array<uint32_t, 4> buffer_{};
  unsigned used_ = 4;
};

/// One block of Philox4x32-10: the function under `Rng`, exposed for its published test vectors.
std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

/// 64-bit FNV-1a followed by a finalizer; stable across platforms. Used for stream names and for hashing tokens.
uint64_t stable_hash(std::string_view bytes, uint64_t start = 0xcbf29ce484222325ull);

/// A bijective scrambling of 64 bits (the finalizer of SplitMix64).
constexpr uint64_t mix64(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ull;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebull;
  x ^= x >> 31;
  return x;
}

}  // namespace lengthwise
