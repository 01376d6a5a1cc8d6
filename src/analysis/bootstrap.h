#pragma once
/// Intervals over sequences: they are drawn anew with replacement, 1,000 times, and the middle 95 % of what comes out
/// is the interval (percentile bootstrap). Tokens of one sequence are never drawn apart.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "ranking/estimate.h"

namespace lengthwise {

inline constexpr size_t kResamples = 1000;

/// Calls `use(resample, drawn)` for every resample: `drawn` are as many indices below `count`.
void draw_resamples(size_t count, uint64_t seed, const std::function<void(size_t, const std::vector<size_t>&)>& use);

/// Of a mean.
Estimate bootstrap_mean(const std::vector<double>& values, uint64_t seed);

}  // namespace lengthwise
