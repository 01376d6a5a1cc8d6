#include "core/base64.h"

#include <gtest/gtest.h>

namespace lengthwise {
namespace {

TEST(Base64, IsReadBack) {
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(from_base64(base64(bytes)), bytes) << i;
    bytes += static_cast<char>(i * 37);
  }
}

TEST(Base64, IsNothingElse) {
  for (const char* text : {"Zg", "Zg=", "Zg=A", "Z===", "====", "Zh==", "Zm9=", "Z m8=", "Zm8\n", "<b>=", "Zg==Zg=="}) {
    EXPECT_EQ(from_base64(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace lengthwise
