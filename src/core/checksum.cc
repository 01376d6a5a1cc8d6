#include "core/checksum.h"

#include <fmt/format.h>
#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

#include <array>
#include <bit>
#include <cstring>

namespace lengthwise {
namespace {

using Tables = std::array<std::array<uint32_t, 256>, 8>;

/// Table k holds what a byte does to the remainder when k more bytes follow it, so that eight bytes are eight lookups
/// that do not wait for each other.
constexpr Tables make_tables() {
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? (crc >> 1) ^ 0x82f63b78u : crc >> 1;
    tables[0][byte] = crc;
  }
  for (size_t k = 1; k < tables.size(); ++k) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}
constexpr Tables kTables = make_tables();
static_assert(std::endian::native == std::endian::little);

// One instruction takes in eight bytes. Written out, so that one build runs on processors with and without it.
#if defined(__x86_64__)
bool has_instruction() {
  return __builtin_cpu_supports("sse4.2") != 0;
}
uint32_t add_eight(uint32_t crc, uint64_t eight) {
  uint64_t wide = crc;
  asm("crc32q %1, %0" : "+r"(wide) : "r"(eight));
  return static_cast<uint32_t>(wide);
}
#elif defined(__aarch64__)
bool has_instruction() {
  return (::getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
}
uint32_t add_eight(uint32_t crc, uint64_t eight) {
  asm(".arch_extension crc\n\tcrc32cx %w0, %w0, %1" : "+r"(crc) : "r"(eight));
  return crc;
}
#else
bool has_instruction() {
  return false;
}
uint32_t add_eight(uint32_t crc, uint64_t) {
  return crc;
}
#endif

}  // namespace

uint32_t crc32c(std::string_view bytes, uint32_t before) {
  static const bool fast = has_instruction();
  if (!fast) return crc32c_by_tables(bytes, before);
  uint32_t crc = ~before;
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    uint64_t eight = 0;
    std::memcpy(&eight, bytes.data(), 8);
    crc = add_eight(crc, eight);
  }
  return crc32c_by_tables(bytes, ~crc);
}

uint32_t crc32c_by_tables(std::string_view bytes, uint32_t before) {
  uint32_t crc = ~before;
  const char* at = bytes.data();
  size_t left = bytes.size();
  for (; left >= 8; at += 8, left -= 8) {
    uint64_t eight = 0;
    std::memcpy(&eight, at, 8);
    eight ^= crc;
    crc = 0;
    for (size_t k = 0; k < 8; ++k) crc ^= kTables[7 - k][(eight >> (8 * k)) & 0xff];
  }
  for (; left > 0; ++at, --left) crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<unsigned char>(*at)) & 0xff];
  return ~crc;
}

std::string checksum_text(uint32_t crc) {
  return fmt::format("crc32c:{:08x}", crc);
}

}  // namespace lengthwise
