#pragma once
/// Accuracy by length of one encoding on one split, over its seeds.
#include <cstdint>
#include <vector>

#include "core/rng.h"
#include "ranking/estimate.h"
#include "results/score.h"

namespace lengthwise {

struct CurveLength {
  int64_t length = 0;
  bool longer = false;  ///< than any in training
  int64_t count = 0;    ///< examples of all seeds
  Estimate accuracy;    ///< mean over seeds
};

struct LengthCurve {
  std::vector<CurveLength> lengths;  ///< ascending
  LengthEstimate under_half;         ///< the first length at which the mean accuracy is below one half
};

/// The runs are the seeds. Resamples draw seeds and, at every length, shares of right answers (share_sampler.h); all
/// encodings of a split are given the same `rng` and so draw the same seeds if they have equally many. Where a length
/// was measured both on validation and on test examples, these are put together.
LengthCurve length_curve(const std::vector<const Score*>& runs, int64_t resamples, Rng rng);

}  // namespace lengthwise
