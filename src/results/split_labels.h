#pragma once
/// Which runs are to be compared with which.
///
/// A split is a task and whatever else varies besides encoding and seed: `addition`, `addition scratchpad=full`,
/// `copy model=small`. An option that follows from others (the width from the model, the lengths from the task) is not
/// named. An option that varies within one encoding only is part of that encoding's name: `rope rotary-fraction=1`.
#include <string>
#include <vector>

#include "results/stored_run.h"

namespace lengthwise {

/// Sets `split`, and completes `encoding`, of every run that has options. `varies` are the options a study says it
/// varies; they are tried first. Returns notes, one line each: options in which the encodings differ although they were
/// not varied, so that the comparison may not be fair.
std::vector<std::string> label_runs(const std::vector<std::string>& varies, std::vector<StoredRun>& runs);

}  // namespace lengthwise
