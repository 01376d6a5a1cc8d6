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
  for_each_object(text, kName, growing, [&](const JsonObject& row) {
    const int64_t step = row.whole("step", 1);
    const std::optional<double> match = row.find_number("validation_exact_match", 0, 1);
    int64_t& before = match ? last_validated : last_trained;
    if (step < metrics.last_step || step <= before) {
      fail("{}: step {} stands after step {}", row.where(), step, metrics.last_step);
    }
    metrics.last_step = before = step;
    // A loss that is no number is null.
    const std::optional<double> loss = row.find_number("loss");
    if (loss) metrics.loss.push_back({step, *loss});
    if (!match) return;
    metrics.validation.push_back({step, *match});
    metrics.best = std::max(metrics.best.value_or(*match), *match);
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
