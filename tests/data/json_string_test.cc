#include "data/json_string.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace lengthwise {
namespace {

TEST(JsonString, ReadsBackAsTheSameText) {
  std::string all;
  for (int byte = 0; byte < 128; ++byte) all += static_cast<char>(byte);
  for (const std::string& text : {std::string(), std::string("plain"), all, std::string("\xC3\xA9 \"quoted\"\\")}) {
    std::string json;
    append_json_string(json, text);
    EXPECT_EQ(nlohmann::json::parse(json).get<std::string>(), text);
  }
}

TEST(JsonString, EscapesWhatItMust) {
  std::string json = "x";
  append_json_string(json, "a\"b\\c\n\t\r\b\f\x01\x1f/\x7f");
  EXPECT_EQ(json, "x\"a\\\"b\\\\c\\n\\t\\r\\b\\f\\u0001\\u001f/\x7f\"");
}

TEST(JsonString, FindsTheFirstByteThatIsNotUtf8) {
  constexpr size_t kNone = std::string_view::npos;
  EXPECT_EQ(find_invalid_utf8(""), kNone);
  EXPECT_EQ(find_invalid_utf8("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x90\x8D\xF4\x8F\xBF\xBF"), kNone);
  EXPECT_EQ(find_invalid_utf8("ab\x80"), 2u);            // continuation without a lead
  EXPECT_EQ(find_invalid_utf8("\xC3"), 0u);              // cut short
  EXPECT_EQ(find_invalid_utf8("a\xE2\x82"), 1u);         // cut short
  EXPECT_EQ(find_invalid_utf8("\xC0\xAF"), 0u);          // overlong
  EXPECT_EQ(find_invalid_utf8("\xE0\x80\xAF"), 0u);      // overlong
  EXPECT_EQ(find_invalid_utf8("\xF0\x80\x80\xAF"), 0u);  // overlong
  EXPECT_EQ(find_invalid_utf8("\xED\xA0\x80"), 0u);      // surrogate
  EXPECT_EQ(find_invalid_utf8("\xF4\x90\x80\x80"), 0u);  // above U+10FFFF
  EXPECT_EQ(find_invalid_utf8("\xFF"), 0u);
  EXPECT_EQ(find_invalid_utf8("\xC3(\xA9"), 0u);
}

}  // namespace
}  // namespace lengthwise
