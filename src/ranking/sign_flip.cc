#include "ranking/sign_flip.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace lengthwise {
namespace {

/// How many patterns of the signs from `at` on lead to a sum of at least `far` on either side. `rest[at]` is the most
/// the remaining signs can add.
int64_t count_far(const std::vector<double>& sizes, const std::vector<double>& rest, size_t at, double sum,
                  double far) {
  if (std::abs(sum) + rest[at] < far) return 0;
  if (std::abs(sum) - rest[at] >= far) return int64_t{1} << (sizes.size() - at);
  return count_far(sizes, rest, at + 1, sum + sizes[at], far) + count_far(sizes, rest, at + 1, sum - sizes[at], far);
}

/// Marsaglia's polar method.
double draw_normal(Rng& rng) {
  while (true) {
    const double x = 2 * rng.uniform() - 1;
    const double y = 2 * rng.uniform() - 1;
    const double square = x * x + y * y;
    if (square > 0 && square < 1) return x * std::sqrt(-2 * std::log(square) / square);
  }
}

/// The sum under random signs, 32 of them to a random number.
double draw_sum(std::span<const double> sizes, double deviation_of_rest, Rng& rng) {
  double sum = deviation_of_rest > 0 ? deviation_of_rest * draw_normal(rng) : 0;
  for (size_t begin = 0; begin < sizes.size(); begin += 32) {
    uint32_t signs = rng.next();
    for (const double size : sizes.subspan(begin, std::min<size_t>(32, sizes.size() - begin))) {
      sum += (signs & 1) != 0 ? size : -size;
      signs >>= 1;
    }
  }
  return sum;
}

}  // namespace

SignFlipTest sign_flip_test(std::span<const double> differences, Rng rng) {
  SignFlipTest test;
  test.queries = static_cast<int64_t>(differences.size());
  double observed = 0;
  std::vector<double> sizes;
  for (const double difference : differences) {
    observed += difference;
    if (difference != 0) sizes.push_back(std::abs(difference));
  }
  test.nonzero = static_cast<int64_t>(sizes.size());
  if (sizes.empty()) return test;
  // Large ones first: whole branches are decided early.
  std::sort(sizes.begin(), sizes.end(), std::greater<>());
  std::vector<double> rest(sizes.size() + 1, 0.0);
  for (size_t i = sizes.size(); i > 0; --i) rest[i - 1] = rest[i] + sizes[i - 1];
  // Equal sums that were added up in another order must count as equal.
  const double far = std::abs(observed) - 1e-9 * rest[0];
  test.exact = test.nonzero <= kExactSignFlips;
  if (test.exact) {
    const double patterns = std::ldexp(1.0, static_cast<int>(test.nonzero));
    test.p = static_cast<double>(count_far(sizes, rest, 0, 0, far)) / patterns;
    test.smallest_p = 2 / patterns;
    return test;
  }
  const std::span<const double> own = std::span(sizes).first(std::min(kOwnSigns, sizes.size()));
  const double square_of_rest =
      std::inner_product(sizes.begin() + std::ssize(own), sizes.end(), sizes.begin() + std::ssize(own), 0.0);
  int64_t hits = 0;
  for (int64_t draw = 0; draw < kSignFlipDraws; ++draw) {
    if (std::abs(draw_sum(own, std::sqrt(square_of_rest), rng)) >= far) ++hits;
  }
  test.p = static_cast<double>(1 + hits) / static_cast<double>(1 + kSignFlipDraws);
  test.smallest_p = 1 / static_cast<double>(1 + kSignFlipDraws);
  return test;
}

double smallest_corrected(const SignFlipTest& test, size_t pairs) {
  return std::min(1.0, test.smallest_p * static_cast<double>(pairs));
}

std::string p_text(double p) {
  constexpr double kLeast = 0.0001;
  return p < kLeast ? fmt::format("< {}", kLeast) : fmt::format("{:.4f}", p);
}

}  // namespace lengthwise
