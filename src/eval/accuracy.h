#pragma once
/// Accuracy of groups of examples, with honest intervals.
#include <cstdint>

namespace lengthwise {

struct Interval {
  double low = 0;
  double high = 1;
};

/// Wilson's score interval for `correct` of `count` (1927), by default at 95 %.
Interval wilson_interval(int64_t correct, int64_t count, double z = 1.959963984540054);

struct Accuracy {
  int64_t count = 0;
  int64_t correct = 0;
  int64_t targets = 0;  ///< target tokens
  double loss = 0;      ///< summed over them

  double share() const { return count == 0 ? 0 : static_cast<double>(correct) / static_cast<double>(count); }
  double mean_loss() const { return targets == 0 ? 0 : loss / static_cast<double>(targets); }
  void add(const Accuracy& other) {
    count += other.count;
    correct += other.correct;
    targets += other.targets;
    loss += other.loss;
  }
};

}  // namespace lengthwise
