#pragma once
/// Resampled counts: if `count` examples of which `correct` were right are drawn with replacement, the number of right
/// ones is binomial(count, correct / count).
#include <cstdint>
#include <vector>

#include "core/rng.h"

namespace lengthwise {

/// Draws by inversion of the cumulative distribution, tabulated around its mode as far as a double can tell. Made with
/// additions, multiplications and divisions alone, so that it draws the same numbers everywhere.
class BinomialSampler {
 public:
  /// 0 <= correct <= count.
  BinomialSampler(int64_t count, int64_t correct);

  int64_t draw(Rng& rng) const;

 private:
  int64_t first_ = 0;               ///< what the first entry stands for
  std::vector<double> cumulative_;  ///< not normalized; empty: always `first_`
};

}  // namespace lengthwise
