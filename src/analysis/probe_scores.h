#pragma once
/// How good predictions are on sequences that a probe never saw, with intervals over these sequences.
///
///     R2 = 1 - sum (y - prediction)^2 / sum (y - mean y)^2        error = mean |y - prediction|
///
/// R2 is 1 for perfect predictions, 0 for the mean of the labels, and below 0 for what is worse than that, as
/// extrapolation can be. Intervals are over sequences (analysis/bootstrap.h).
#include <cstdint>
#include <vector>

#include "analysis/bootstrap.h"

namespace lengthwise {

struct ProbeScore {
  Estimate r2;     ///< NaN where all labels are equal
  Estimate error;  ///< in tokens
  int64_t sequences = 0;
  int64_t rows = 0;
};

/// Labels, predictions and the sequence of every row.
ProbeScore score_probe(const std::vector<double>& labels, const std::vector<double>& predictions,
                       const std::vector<int64_t>& sequences, uint64_t seed);

}  // namespace lengthwise
