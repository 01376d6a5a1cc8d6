#include "results/run_costs.h"

#include <algorithm>
#include <map>

namespace lengthwise {
namespace {

constexpr const char* kBaseline = "nope";

template <class Value>
std::optional<Value> middle_of(std::vector<Value> values) {
  if (values.empty()) return std::nullopt;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

/// 0 where nobody measured it.
double step_seconds(const StoredRun& run) {
  return run.steps > 0 ? run.training_seconds.value_or(0) / static_cast<double>(run.steps) : 0;
}

std::string place_of(const StoredRun& run) {
  return run.split + '\n' + run.seed + '\n' + run.tuned + '\n' + run.machine;
}

}  // namespace

std::vector<EncodingCost> encoding_costs(const Results& results, const std::vector<std::string>& encodings) {
  const std::vector<const StoredRun*> runs = compared_runs(results);
  std::map<std::string, const StoredRun*> baselines;
  for (const StoredRun* run : runs) {
    if (run->encoding == kBaseline) baselines.emplace(place_of(*run), run);
  }
  std::vector<EncodingCost> costs;
  for (const std::string& encoding : encodings) {
    std::vector<double> ratios, seconds;
    std::vector<int64_t> parameters;
    for (const StoredRun* run : runs) {
      if (run->encoding != encoding || run->is_reading) continue;
      if (step_seconds(*run) > 0) seconds.push_back(step_seconds(*run));
      const auto found = baselines.find(place_of(*run));
      if (found == baselines.end()) continue;
      const StoredRun& baseline = *found->second;
      if (step_seconds(*run) > 0 && step_seconds(baseline) > 0)
        ratios.push_back(step_seconds(*run) / step_seconds(baseline));
      if (run->parameters > 0 && baseline.parameters > 0) parameters.push_back(run->parameters - baseline.parameters);
    }
    costs.push_back({middle_of(ratios), middle_of(seconds), middle_of(parameters)});
  }
  return costs;
}

}  // namespace lengthwise
