#pragma once
/// What analyses found, for the charts of a report (docs/analysis.md):
///
///     probe       [{run, layers, length, longest, series: {"CONTENT TARGET PROBE FIT WHERE STATES": [[r2, low, high,
///                 error] or null, ...]}}], one entry a layer; WHERE is inside (the trained length) or longest; STATES
///                 is trained, untrained, constructed, token or shuffled
///     similarity  [{run, rows: [[other run's encoding, relation, content, computation, length, layer (0: mean),
///                 divergence, low, high], ...]}]
///     heads       as in head_data.h
///
/// `run` is the place of the run in the report's list.
#include <nlohmann/json_fwd.hpp>

#include "ranking/comparison.h"
#include "results/load_results.h"

namespace lengthwise {

/// An object with a key for each analysis that some finished run has, read from the folders of the runs. What cannot be
/// read is left out, with a line in the notes.
nlohmann::ordered_json analysis_data(const Results& results, const Comparison& comparison,
                                     std::vector<std::string>& notes);

}  // namespace lengthwise
