#pragma once
/// What encodings cost, by what their runs left behind: time of a training step and parameters, beside those of runs
/// without positional encoding.
///
/// The time of a run is what a clock on the wall says of training (origin.json), validations in between included, and
/// depends on the machine and on what else it did. So a run is compared only with one of the same split, seed and
/// machine, and of all such ratios the middle one counts.
#include <optional>
#include <string>
#include <vector>

#include "results/load_results.h"

namespace lengthwise {

struct EncodingCost {
  std::optional<double> step_time;         ///< of a step, in those of NoPE
  std::optional<double> step_seconds;      ///< of a step
  std::optional<int64_t> more_parameters;  ///< than NoPE
};

/// One for each of these encodings; what nobody measured is missing.
std::vector<EncodingCost> encoding_costs(const Results& results, const std::vector<std::string>& encodings);

}  // namespace lengthwise
