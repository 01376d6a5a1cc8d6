#pragma once
/// A part of a study: runs by their names, so that it can be done in pieces.
#include <string>

#include "study/plan.h"

namespace lengthwise {

/// Leaves only the runs selected whose names fit one of the patterns, which are separated by commas: `*` stands for any
/// text, `?` for one character, `[12]` for one of these (glob(7)). Says what was selected, in one line. UserError, with
/// the nearest name, for a pattern that fits no run.
std::string select_runs(const std::string& patterns, StudyPlan& plan);

}  // namespace lengthwise
