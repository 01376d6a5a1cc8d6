#include "train/schedule.h"

#include <gtest/gtest.h>

namespace lengthwise {
namespace {

TEST(LearningRate, RisesAndFallsAsInTheStudy) {
  const auto rate = [](int64_t step) { return learning_rate(step, 40000, 2400, 3e-5, 1e-7); };
  EXPECT_EQ(rate(0), 0);
  EXPECT_DOUBLE_EQ(rate(1200), 1.5e-5);
  EXPECT_DOUBLE_EQ(rate(2400), 3e-5);
  EXPECT_DOUBLE_EQ(rate(21200), (3e-5 + 1e-7) / 2);
  EXPECT_DOUBLE_EQ(rate(40000), 1e-7);
  EXPECT_DOUBLE_EQ(rate(50000), 1e-7);
  EXPECT_DOUBLE_EQ(learning_rate(0, 10, 0, 1.0, 0.0), 1.0);
}

}  // namespace
}  // namespace lengthwise
