#include "ranking/share_sampler.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace lengthwise {
namespace {

/// log(x^(2 times)), also where both are 0.
double log_power(double x, int64_t times) {
  return times == 0 ? 0 : 2 * static_cast<double>(times) * std::log(x);
}

}  // namespace

ShareSampler::ShareSampler(const Tally& tally) {
  LENGTHWISE_CHECK(0 <= tally.correct && tally.correct <= tally.count && tally.count > 0, "{} of {}", tally.correct,
                   tally.count);
  const int64_t wrong = tally.count - tally.correct;
  const double mode = std::atan2(std::sqrt(static_cast<double>(tally.correct)), std::sqrt(static_cast<double>(wrong)));
  // The log density bends by at least (sqrt(2 correct) + sqrt(2 wrong))^2 everywhere, so that it falls faster than that
  // of a normal variable with this deviation.
  const double deviation =
      1 / (std::sqrt(2 * static_cast<double>(tally.correct)) + std::sqrt(2 * static_cast<double>(wrong)));
  const double reach = 4.5 * deviation;
  const double last = std::min(std::numbers::pi / 2, mode + reach);
  first_ = std::max(0.0, mode - reach);
  step_ = (last - first_) / kParts;
  const auto log_density = [&](double angle) {
    return log_power(std::sin(angle), tally.correct) + log_power(std::cos(angle), wrong);
  };
  const double top = log_density(mode);
  double before = std::exp(log_density(first_) - top);
  double sum = 0;
  for (size_t i = 1; i <= kParts; ++i) {
    const double density = std::exp(log_density(first_ + step_ * static_cast<double>(i)) - top);
    sum += (before + density) / 2;
    cumulative_[i] = static_cast<float>(sum);
    before = density;
  }
}

double ShareSampler::draw(Rng& rng) const {
  const auto at = static_cast<float>(rng.uniform()) * cumulative_.back();
  const auto found = std::upper_bound(cumulative_.begin() + 1, cumulative_.end() - 1, at);
  const double below = *(found - 1);
  const double part = *found > below ? (at - below) / (*found - below) : 0.5;
  const double sine = std::sin(first_ + step_ * (static_cast<double>(found - 1 - cumulative_.begin()) + part));
  return sine * sine;
}

const ShareSampler& ShareSamplers::of(const Tally& tally) {
  return samplers_.try_emplace(tally, tally).first->second;
}

}  // namespace lengthwise
