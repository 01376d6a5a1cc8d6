#pragma once
/// The data of a report as one JSON object; page.js draws every chart and table from it.
///
/// Estimates are [value, low, high]; the index of a split or encoding is its place in the comparison. Lengths of cells
/// are [length, 0 if longer than any in training or else 1, count, estimate]; those of runs [length, kind, count,
/// correct], of kind 0: longer test examples, 1: validation examples, 2: test examples that are not longer.
#include <nlohmann/json.hpp>

#include "ranking/comparison.h"
#include "results/load_results.h"

namespace lengthwise {

/// What was read from the runs beside their results.
struct Findings {
  nlohmann::ordered_json analyses;    ///< as analysis_data.h says
  nlohmann::ordered_json perplexity;  ///< as perplexity_data.h says
};

nlohmann::ordered_json report_data(const Results& results, const Comparison& comparison, Findings findings);

/// At most `most` points: means over stretches of equal size, each at the step of its last point.
std::vector<CurvePoint> thin_curve(const std::vector<CurvePoint>& points, size_t most);

}  // namespace lengthwise
