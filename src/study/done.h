#pragma once
/// What of a study is done, as its run folders state it.
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "study/keep.h"
#include "study/plan.h"

namespace lengthwise {

struct RunAccuracy {
  std::optional<double> in_distribution;
  std::optional<double> out_of_distribution;  ///< empty where there are no such examples
};

/// Of one run's folder; nothing in it when the run is not finished.
RunAccuracy read_accuracy(const std::filesystem::path& run);

/// What is wrong with the results of a finished run; "" when nothing is.
std::string damage_of(const std::filesystem::path& run);

/// Whether the run is there, finished in the configuration asked for, and whole.
bool is_finished(const std::filesystem::path& study, const StudyRun& run);

/// Bytes that the selected runs which are not finished will still take: what they will have at their end, less what
/// they have now, and what each job needs while it works, which is a checkpoint that is written aside and, where
/// weights are not kept, the run's own.
uint64_t bytes_to_come(const std::filesystem::path& study, const StudyPlan& plan, int64_t jobs, Keep keep = Keep::all);

}  // namespace lengthwise
