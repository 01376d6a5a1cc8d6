#include "core/length_range.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace lengthwise {
namespace {

LengthRange parsed(std::string_view text) {
  LengthRange range;
  from_text(text, range);
  return range;
}

TEST(LengthRange, ReadsBothForms) {
  EXPECT_EQ(parsed("2:20"), (LengthRange{2, 20}));
  EXPECT_EQ(parsed("7"), (LengthRange{7, 7}));
  EXPECT_EQ(parsed("1:1000000"), (LengthRange{1, 1'000'000}));
}

TEST(LengthRange, ReadsWhatItWrites) {
  for (const LengthRange range : {LengthRange{1, 1}, LengthRange{1, 8}, LengthRange{999'999, 1'000'000}}) {
    EXPECT_EQ(parsed(to_text(range)), range);
  }
}

TEST(LengthRange, KnowsItsMembers) {
  const LengthRange range{3, 5};
  EXPECT_EQ(range.size(), 3);
  EXPECT_FALSE(range.contains(2));
  EXPECT_TRUE(range.contains(3));
  EXPECT_TRUE(range.contains(5));
  EXPECT_FALSE(range.contains(6));
}

TEST(LengthRange, RefusesEverythingElse) {
  for (const char* text : {"", ":", "1:", ":8", "8:1", "0:4", "0", "-1:4", "1-8", "1:8:9", "a:b", " 1:8", "1:8 ",
                           "1.5:2", "1:1000001", "99999999999999999999"}) {
    LengthRange range{4, 5};
    EXPECT_THROW(from_text(text, range), UserError) << "'" << text << "'";
    EXPECT_EQ(range, (LengthRange{4, 5})) << "a failure leaves the value alone";
  }
}

TEST(LengthRange, ErrorQuotesTheText) {
  try {
    parsed("x");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "'x' is not a range of lengths; write LOW:HIGH, for example 1:8");
  }
}

}  // namespace
}  // namespace lengthwise
