#include "core/error.h"

#include <gtest/gtest.h>

namespace lengthwise {
namespace {

TEST(Error, FailFormatsAUserError) {
  try {
    fail("--count: {} is not {}", 5, "right");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "--count: 5 is not right");
  }
}

TEST(Error, MessagesLoseTheirBacktrace) {
  EXPECT_EQ(message_of(std::runtime_error("shapes differ\nException raised from here\nframe #0")), "shapes differ");
  EXPECT_EQ(message_of(std::runtime_error("shapes differ")), "shapes differ");
}

TEST(Error, AFailedCheckIsABugWithItsPlace) {
  const int value = 3;
  EXPECT_NO_THROW(LENGTHWISE_CHECK(value == 3, "value {}", value));
  try {
    LENGTHWISE_CHECK(value == 4, "value {}", value);
    FAIL();
  } catch (const UserError&) {
    FAIL() << "a bug is not the user's mistake";
  } catch (const std::logic_error& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("error_test.cc:"), std::string::npos) << message;
    EXPECT_NE(message.find("value == 4 does not hold: value 3"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace lengthwise
