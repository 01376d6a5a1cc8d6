#include "core/rng.h"

namespace lengthwise {

std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = uint64_t{0xD2511F53} * counter[0];
    const uint64_t product1 = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(product1),
               static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(product0)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

uint64_t stable_hash(std::string_view bytes, uint64_t start) {
  uint64_t hash = start;
  for (const char byte : bytes) {
    hash ^= static_cast<unsigned char>(byte);
    hash *= 0x100000001b3ull;
  }
  return mix64(hash);
}

Rng Rng::stream(std::string_view name) const {
  // The golden-ratio constants keep key 0 and index 0 from cancelling each other.
  const uint64_t parent = mix64(key_ + 0x9e3779b97f4a7c15ull) ^ mix64(index_ + 0x3c6ef372fe94f82aull);
  return Rng(mix64(parent + stable_hash(name)));
}

void Rng::refill() {
  buffer_ = philox4x32({static_cast<uint32_t>(block_), static_cast<uint32_t>(block_ >> 32),
                        static_cast<uint32_t>(index_), static_cast<uint32_t>(index_ >> 32)},
                       {static_cast<uint32_t>(key_), static_cast<uint32_t>(key_ >> 32)});
  ++block_;
  used_ = 0;
}

uint64_t Rng::below(uint64_t bound) {
  LENGTHWISE_CHECK(bound >= 1, "below(0)");
  if (bound <= 0xffffffffull) {
    const auto small = static_cast<uint32_t>(bound);
    uint64_t product = uint64_t{next()} * small;
    if (static_cast<uint32_t>(product) < small) {
      const uint32_t threshold = (0u - small) % small;
      while (static_cast<uint32_t>(product) < threshold) product = uint64_t{next()} * small;
    }
    return product >> 32;
  }
  const uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
  uint64_t value = next64();
  while (value >= limit) value = next64();
  return value % bound;
}

}  // namespace lengthwise
