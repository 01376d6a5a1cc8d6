#pragma once
/// Which runs are to be compared with which.
///
/// A split is a task and whatever else varies besides encoding and seed: `addition`, `addition scratchpad=full`,
/// `copy model=small`. An option that follows from others (the width from the model, the lengths from the task) is not
/// named, nor is what differs from seed to seed alone: data drawn anew, weights to start from. An option that varies
/// within one encoding only is part of that encoding's name: `rope rotary-fraction=1`.
/// Options that are tuned, and those that follow from them, are part of neither: their values are chosen by validation
/// (ranking/tuning.h).
#include <string>
#include <vector>

#include "results/stored_run.h"

namespace lengthwise {

/// Sets `split` and `tuned`, and completes `encoding`, of every run that has options and is not damaged. `varies` are
/// the options a study says it varies; they are tried first. Returns notes, one line each: options in which the
/// encodings differ although they were not varied, so that the comparison may not be fair.
std::vector<std::string> label_runs(const std::vector<std::string>& varies, const std::vector<std::string>& tune,
                                    std::vector<StoredRun>& runs);

/// Whether an option can be tuned: not one that runs are compared by, or that changes speed alone.
bool can_be_tuned(const std::string& option);

}  // namespace lengthwise
