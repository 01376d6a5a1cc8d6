#pragma once
/// Whether bytes are those that were written: CRC-32C (Castagnoli), which notices every flipped bit and every run of up
/// to 32 damaged ones. It guards against damage, not against intent.
#include <cstdint>
#include <string>
#include <string_view>

namespace lengthwise {

/// Reflected, polynomial 0x82f63b78. To go on where an earlier part ended, give its value as `before`:
/// crc32c(b, crc32c(a)) is crc32c(a + b).
/// By the processor's instruction where it has one (several GB/s), otherwise by the twin.
uint32_t crc32c(std::string_view bytes, uint32_t before = 0);

/// The twin: by tables, on any processor (about 0.5 to 2 GB/s). The same values.
uint32_t crc32c_by_tables(std::string_view bytes, uint32_t before = 0);

/// As it stands in files: `crc32c:` and eight hexadecimal digits.
std::string checksum_text(uint32_t crc);
inline std::string checksum_of(std::string_view bytes) {
  return checksum_text(crc32c(bytes));
}

}  // namespace lengthwise
