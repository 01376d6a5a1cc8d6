#include "ranking/estimate.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lengthwise {
namespace {

constexpr double kLow = 0.025;
constexpr double kHigh = 0.975;

double percentile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

Estimate percentile_interval(double value, std::vector<double> replicates) {
  std::erase_if(replicates, [](double replicate) { return std::isnan(replicate); });
  if (replicates.empty()) return {value, value, value};
  std::sort(replicates.begin(), replicates.end());
  return {value, std::min(value, percentile(replicates, kLow)), std::max(value, percentile(replicates, kHigh))};
}

LengthEstimate percentile_interval(std::optional<int64_t> value, std::vector<std::optional<int64_t>> replicates) {
  if (replicates.empty()) return {value, value, value};
  // Never comes after every length.
  std::sort(replicates.begin(), replicates.end(), [](const auto& a, const auto& b) {
    constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
    return a.value_or(kNever) < b.value_or(kNever);
  });
  const auto last = static_cast<double>(replicates.size() - 1);
  return {value, replicates[static_cast<size_t>(std::floor(kLow * last))],
          replicates[static_cast<size_t>(std::ceil(kHigh * last))]};
}

}  // namespace lengthwise
