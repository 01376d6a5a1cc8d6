#include "core/checksum.h"

#include <gtest/gtest.h>

namespace lengthwise {
namespace {

TEST(Crc32c, HasItsPublishedValues) {
  // RFC 3720, appendix B.4.
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aaU);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43U);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283U);
}

TEST(Crc32c, GoesOnWhereAPartEnded) {
  std::string bytes;
  for (int i = 0; i < 100; ++i) bytes += static_cast<char>(37 * i);
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    const std::string_view whole = bytes;
    EXPECT_EQ(crc32c(whole.substr(cut), crc32c(whole.substr(0, cut))), crc32c(whole)) << cut;
  }
}

TEST(Crc32c, IsTheSameByInstructionAndByTables) {
  std::string bytes;
  for (int i = 0; i < 300; ++i) bytes += static_cast<char>(i * i + 11 * i);
  for (size_t begin = 0; begin < 16; ++begin) {
    for (size_t size = 0; begin + size <= bytes.size(); ++size) {
      const std::string_view part = std::string_view(bytes).substr(begin, size);
      ASSERT_EQ(crc32c(part, 0x1234), crc32c_by_tables(part, 0x1234)) << begin << " " << size;
    }
  }
}

TEST(Crc32c, NoticesEveryFlippedBit) {
  std::string bytes = "The answer is 9 0 5.";
  const std::string right = checksum_of(bytes);
  EXPECT_EQ(right.size(), std::string("crc32c:").size() + 8);
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_NE(checksum_of(damaged), right) << bit;
  }
}

}  // namespace
}  // namespace lengthwise
