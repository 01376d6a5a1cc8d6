#include "eval/accuracy.h"

#include <gtest/gtest.h>

namespace lengthwise {
namespace {

TEST(WilsonInterval, HasKnownValues) {
  // 81 of 263 at 95 %: Newcombe 1998, table I.
  const Interval interval = wilson_interval(81, 263);
  EXPECT_NEAR(interval.low, 0.2553, 5e-5);
  EXPECT_NEAR(interval.high, 0.3662, 5e-5);
  const Interval none = wilson_interval(0, 20);
  EXPECT_EQ(none.low, 0);
  EXPECT_NEAR(none.high, 0.1611, 5e-5);
  const Interval all = wilson_interval(20, 20);
  EXPECT_NEAR(all.low, 0.8389, 5e-5);
  EXPECT_NEAR(all.high, 1, 1e-12);
  EXPECT_EQ(wilson_interval(0, 0).low, 0);
  EXPECT_EQ(wilson_interval(0, 0).high, 1);
}

}  // namespace
}  // namespace lengthwise
