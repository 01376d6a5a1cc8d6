#include "core/printable.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/files.h"
#include "core/table.h"
#include "core/text.h"

namespace lengthwise {
namespace {

TEST(Printable, LeavesOrdinaryTextAlone) {
  for (const std::string text : {"", "a b", "\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x90\x8D", "C:\\x", "\xC2\xA0"}) {
    EXPECT_EQ(printable(text), text);
  }
}

TEST(Printable, TakesPowerOverTheTerminalAway) {
  EXPECT_EQ(printable("a\x1b[31mb"), "a\\u{1b}[31mb");
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a\\u{0}b");
  EXPECT_EQ(printable("a\r\n\tb\x7f"), "a\\r\\n\\tb\\u{7f}");
  EXPECT_EQ(printable("\xC2\x9B"), "\\u{9b}") << "the same as ESC [ to many terminals";
  EXPECT_EQ(printable("\xE2\x80\xAE\xE2\x80\xA8"), "\\u{202e}\\u{2028}");
}

TEST(Printable, ShowsBytesThatAreNoText) {
  EXPECT_EQ(printable("a\xff"), "a\\xff");
  EXPECT_EQ(printable("\xE2\x82"), "\\xe2\\x82");
  EXPECT_EQ(printable("\xC0\xAF"), "\\xc0\\xaf");
}

TEST(Printable, IsItsOwnResultAndValidForEveryByte) {
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  const std::string once = printable(all);
  EXPECT_EQ(find_invalid_utf8(once), std::string::npos);
  EXPECT_EQ(printable(once), once);
}

TEST(Printable, HoldsForMessagesTablesExcerptsAndPaths) {
  try {
    fail("no {}", "\x1b]0;title\x07");
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "no \\u{1b}]0;title\\u{7}");
  }
  Table table({"na\x1bme"});
  table.add({"a\nb\xff"});
  EXPECT_EQ(table.to_string(), "na\\u{1b}me\n----------\na\\nb\\xff\n");
  EXPECT_EQ(excerpt("a\tb\x1b\xff"), "a b\\u{1b}\\xff");
  EXPECT_EQ(shown("/tmp/\xe9\n"), "/tmp/\\xe9\\n");
}

}  // namespace
}  // namespace lengthwise
