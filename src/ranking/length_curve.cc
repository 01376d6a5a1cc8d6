#include "ranking/length_curve.h"

#include <cmath>
#include <limits>
#include <map>

#include "ranking/share_sampler.h"

namespace lengthwise {
namespace {

/// [length][run]; null where a run was not measured at a length.
using Grid = std::vector<std::vector<const ShareSampler*>>;

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  int64_t count = 0;
  for (const double value : values) {
    if (std::isnan(value)) continue;
    sum += value;
    ++count;
  }
  return count == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(count);
}

std::optional<int64_t> first_under_half(const std::vector<CurveLength>& lengths, const std::vector<double>& means) {
  for (size_t i = 0; i < means.size(); ++i) {
    if (means[i] < 0.5) return lengths[i].length;
  }
  return std::nullopt;
}

}  // namespace

LengthCurve length_curve(const std::vector<const Score*>& runs, int64_t resamples, Rng rng) {
  LengthCurve curve;
  std::map<int64_t, std::vector<Tally>> tallies;
  std::map<int64_t, bool> longer;
  for (size_t run = 0; run < runs.size(); ++run) {
    for (const LengthCount& row : runs[run]->lengths) {
      auto& of_length = tallies.try_emplace(row.length, runs.size()).first->second;
      of_length[run].count += row.count;
      of_length[run].correct += row.correct;
      longer[row.length] = longer[row.length] || is_longer(row, runs[run]->train_limit);
    }
  }
  ShareSamplers samplers;
  Grid grid;
  std::vector<double> values(runs.size());
  std::vector<double> means;
  for (const auto& [length, of_length] : tallies) {
    auto& row = grid.emplace_back();
    CurveLength& point = curve.lengths.emplace_back(CurveLength{length, longer[length], 0, {}});
    for (size_t run = 0; run < runs.size(); ++run) {
      const Tally& tally = of_length[run];
      point.count += tally.count;
      row.push_back(tally.known() ? &samplers.of(tally) : nullptr);
      values[run] = tally.known() ? tally.share() : std::numeric_limits<double>::quiet_NaN();
    }
    means.push_back(mean_of(values));
  }
  const std::optional<int64_t> under_half = first_under_half(curve.lengths, means);

  std::vector<std::vector<double>> replicates(grid.size());
  std::vector<std::optional<int64_t>> under_half_replicates;
  std::vector<size_t> seeds(runs.size());
  std::vector<double> resampled(grid.size());
  for (int64_t r = 0; r < resamples; ++r) {
    Rng seed_rng = rng.stream("seeds").at(static_cast<uint64_t>(r));
    Rng example_rng = rng.stream("examples").at(static_cast<uint64_t>(r));
    for (size_t& seed : seeds) seed = static_cast<size_t>(seed_rng.below(runs.size()));
    for (size_t i = 0; i < grid.size(); ++i) {
      for (size_t slot = 0; slot < seeds.size(); ++slot) {
        const ShareSampler* sampler = grid[i][seeds[slot]];
        values[slot] = sampler == nullptr ? std::numeric_limits<double>::quiet_NaN() : sampler->draw(example_rng);
      }
      resampled[i] = mean_of(values);
      replicates[i].push_back(resampled[i]);
    }
    under_half_replicates.push_back(first_under_half(curve.lengths, resampled));
  }
  for (size_t i = 0; i < grid.size(); ++i) {
    curve.lengths[i].accuracy = percentile_interval(means[i], std::move(replicates[i]));
  }
  curve.under_half = percentile_interval(under_half, std::move(under_half_replicates));
  return curve;
}

}  // namespace lengthwise
