#include "core/table.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace lengthwise {
namespace {

TEST(Table, AlignsTextLeftAndNumbersRight) {
  Table table({"task", "count", "mixed"});
  table.add({"copy", "5", "1"});
  table.add({"addition", "10,000", "one"});
  EXPECT_EQ(table.to_string(),
            "task       count  mixed\n"
            "--------  ------  -----\n"
            "copy           5  1\n"
            "addition  10,000  one\n");
}

TEST(Table, CountsCharactersNotBytes) {
  Table table({"a", "b"});
  table.add({"\xc3\xa9", "x"});
  table.add({"ee", "y"});
  EXPECT_EQ(table.to_string(),
            "a   b\n"
            "--  -\n"
            "\xc3\xa9   x\n"
            "ee  y\n");
}

TEST(Table, MayBeEmpty) {
  EXPECT_EQ(Table({"name", "value"}).to_string(), "name  value\n----  -----\n");
}

TEST(Table, RefusesRowsOfAnotherWidth) {
  Table table({"a", "b"});
  EXPECT_THROW(table.add({"1"}), std::logic_error);
}

}  // namespace
}  // namespace lengthwise
