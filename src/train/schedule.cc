#include "train/schedule.h"

#include <algorithm>

namespace lengthwise {

double learning_rate(int64_t step, int64_t steps, int64_t warmup, double peak, double end) {
  if (step < warmup) return peak * static_cast<double>(step) / static_cast<double>(warmup);
  if (step >= steps) return end;
  const double left =
      1.0 - static_cast<double>(step - warmup) / static_cast<double>(std::max<int64_t>(1, steps - warmup));
  return end + (peak - end) * left;
}

}  // namespace lengthwise
