#pragma once
/// A number and its 95 % interval.
#include <cstdint>
#include <optional>
#include <vector>

namespace lengthwise {

struct Estimate {
  double value = 0;
  double low = 0;
  double high = 0;
};

/// A length, or none at all where accuracy never falls so far.
struct LengthEstimate {
  std::optional<int64_t> value;
  std::optional<int64_t> low;
  std::optional<int64_t> high;
};

/// The value with the percentiles 2.5 and 97.5 of its replicates (linear between neighbours), widened to hold the value
/// itself: no draw from a posterior is exactly 0 or 1. NaN among them is left out, and without any the interval is the
/// value.
Estimate percentile_interval(double value, std::vector<double> replicates);

/// The same for lengths; the ends are replicates, never between two.
LengthEstimate percentile_interval(std::optional<int64_t> value, std::vector<std::optional<int64_t>> replicates);

}  // namespace lengthwise
