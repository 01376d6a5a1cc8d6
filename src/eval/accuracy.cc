#include "eval/accuracy.h"

#include <algorithm>
#include <cmath>

namespace lengthwise {

Interval wilson_interval(int64_t correct, int64_t count, double z) {
  if (count == 0) return {};
  const auto n = static_cast<double>(count);
  const double p = static_cast<double>(correct) / n;
  const double denominator = 1 + z * z / n;
  const double center = (p + z * z / (2 * n)) / denominator;
  const double half = z / denominator * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
  return {std::max(0.0, center - half), std::min(1.0, center + half)};
}

}  // namespace lengthwise
