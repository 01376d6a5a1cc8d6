#include "results/metrics_file.h"

#include <algorithm>

#include "core/error.h"
#include "results/json_lines.h"

namespace lengthwise {
namespace {

constexpr const char* kName = "metrics.jsonl";

Metrics parse(std::string_view text, bool growing) {
  Metrics metrics;
  int64_t last_trained = 0;
  int64_t last_validated = 0;
  for_each_object(text, kName, growing, [&](const nlohmann::ordered_json& row) {
    const auto step = row.at("step").get<int64_t>();
    const bool validated = row.contains("validation_exact_match");
    int64_t& before = validated ? last_validated : last_trained;
    if (step < metrics.last_step || step <= before) fail("step {} stands after step {}", step, metrics.last_step);
    metrics.last_step = before = step;
    // A loss that is no number is null.
    if (row.contains("loss") && row["loss"].is_number()) metrics.loss.push_back({step, row["loss"].get<double>()});
    if (!validated) return;
    const auto match = row["validation_exact_match"].get<double>();
    metrics.validation.push_back({step, match});
    metrics.best = std::max(metrics.best.value_or(match), match);
  });
  return metrics;
}

}  // namespace

Metrics growing_metrics(std::string_view text) {
  return parse(text, true);
}

Metrics finished_metrics(std::string_view text, int64_t steps) {
  Metrics metrics = parse(text, false);
  if (metrics.validation.empty() || metrics.validation.back().step != steps) {
    fail("{} ends at step {} of {}; the file was cut short", kName, metrics.last_step, steps);
  }
  return metrics;
}

}  // namespace lengthwise
