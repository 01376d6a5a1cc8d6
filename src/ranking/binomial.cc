#include "ranking/binomial.h"

#include <algorithm>

namespace lengthwise {

BinomialSampler::BinomialSampler(int64_t count, int64_t correct) : first_(correct) {
  LENGTHWISE_CHECK(0 <= correct && correct <= count, "{} of {}", correct, count);
  if (correct == 0 || correct == count) return;
  constexpr double kNegligible = 1e-18;
  const auto n = static_cast<double>(count);
  const double odds = static_cast<double>(correct) / static_cast<double>(count - correct);
  // The mean is a whole number and therefore the mode: weights fall from 1 to both sides.
  std::vector<double> weights;
  double weight = 1;
  for (int64_t k = correct; k > 0; --k) {
    weight *= static_cast<double>(k) / ((n - static_cast<double>(k) + 1) * odds);
    if (weight < kNegligible) break;
    weights.push_back(weight);
    first_ = k - 1;
  }
  std::reverse(weights.begin(), weights.end());
  weights.push_back(1);
  weight = 1;
  for (int64_t k = correct; k < count; ++k) {
    weight *= (n - static_cast<double>(k)) / static_cast<double>(k + 1) * odds;
    if (weight < kNegligible) break;
    weights.push_back(weight);
  }
  double sum = 0;
  cumulative_.reserve(weights.size());
  for (const double one : weights) cumulative_.push_back(sum += one);
}

int64_t BinomialSampler::draw(Rng& rng) const {
  if (cumulative_.empty()) return first_;
  const double at = rng.uniform() * cumulative_.back();
  const auto found = std::upper_bound(cumulative_.begin(), cumulative_.end() - 1, at);
  return first_ + (found - cumulative_.begin());
}

}  // namespace lengthwise
