#pragma once
/// metrics.jsonl of a run (docs/formats.md).
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace lengthwise {

struct CurvePoint {
  int64_t step = 0;
  double value = 0;
};

struct Metrics {
  std::vector<CurvePoint> loss;
  std::vector<CurvePoint> validation;  ///< exact match
  int64_t last_step = 0;
  std::optional<double> best;  ///< best exact match on validation
};

/// What a run that is still training has written so far: reading ends at a line that is not whole.
Metrics growing_metrics(std::string_view text);

/// Those of a finished run. UserError where a line is not whole, steps do not rise (a part is doubled or out of
/// place), or the validation after the last of `steps` is missing.
Metrics finished_metrics(std::string_view text, int64_t steps);

}  // namespace lengthwise
