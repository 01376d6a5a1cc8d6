#include "train/write_pace.h"

#include <gtest/gtest.h>

namespace lengthwise {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(WritePace, WritingTakesATenthOfTheTimeAtMost) {
  WritePace pace;
  WritePace::Clock::time_point now{};
  EXPECT_TRUE(pace.allows(now)) << "nothing was written yet";
  seconds writing{0};
  for (int second = 0; second < 1000; ++second) {
    if (pace.allows(now)) {
      pace.wrote(now, now + seconds(2));
      now += seconds(2);
      writing += seconds(2);
    }
    now += seconds(1);
  }
  const auto all = now.time_since_epoch();
  EXPECT_LE(writing, all / 10 + seconds(2));
  EXPECT_GE(writing, all / 12);
}

TEST(WritePace, WhatIsBriefMayAlwaysBeWritten) {
  WritePace pace;
  const WritePace::Clock::time_point now{};
  pace.wrote(now, now + milliseconds(200));
  EXPECT_TRUE(pace.allows(now + milliseconds(200)));
  pace.wrote(now, now + milliseconds(300));
  EXPECT_FALSE(pace.allows(now + milliseconds(300)));
  EXPECT_TRUE(pace.allows(now + milliseconds(3000)));
}

}  // namespace
}  // namespace lengthwise
