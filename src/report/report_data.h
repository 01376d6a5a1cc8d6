#pragma once
/// The data of a report as one JSON object; page.js draws every chart and table from it.
///
/// Estimates are [value, low, high]; the index of a split or encoding is its place in the comparison.
#include <nlohmann/json_fwd.hpp>

#include "ranking/comparison.h"
#include "results/load_results.h"

namespace lengthwise {

nlohmann::ordered_json report_data(const Results& results, const Comparison& comparison);

/// At most `most` points: means over stretches of equal size, each at the step of its last point.
std::vector<CurvePoint> thin_curve(const std::vector<CurvePoint>& points, size_t most);

}  // namespace lengthwise
