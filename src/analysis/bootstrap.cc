#include "analysis/bootstrap.h"

#include "core/rng.h"

namespace lengthwise {

void draw_resamples(size_t count, uint64_t seed, const std::function<void(size_t, const std::vector<size_t>&)>& use) {
  const Rng rng = Rng(seed).stream("resamples");
  std::vector<size_t> drawn(count);
  for (size_t resample = 0; resample < kResamples; ++resample) {
    Rng own = rng.at(resample);
    for (size_t& index : drawn) index = own.below(count);
    use(resample, drawn);
  }
}

Estimate bootstrap_mean(const std::vector<double>& values, uint64_t seed) {
  const auto mean_of = [&](const auto& at) {
    double sum = 0;
    for (size_t i = 0; i < values.size(); ++i) sum += values[at(i)];
    return sum / static_cast<double>(values.size());
  };
  std::vector<double> means(kResamples);
  draw_resamples(values.size(), seed, [&](size_t resample, const std::vector<size_t>& drawn) {
    means[resample] = mean_of([&](size_t i) { return drawn[i]; });
  });
  return percentile_interval(mean_of([](size_t i) { return i; }), std::move(means));
}

}  // namespace lengthwise
