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
  double in_distribution = 0;
  std::optional<double> out_of_distribution;  ///< nothing where no test example is longer than those of training
};

/// Of one run's folder; empty when it is not finished.
std::optional<RunAccuracy> read_accuracy(const std::filesystem::path& run);

/// Whether the run is there and finished in the configuration asked for.
bool is_finished(const std::filesystem::path& study, const StudyRun& run);

/// Bytes that the selected runs which are not finished will still take: what they will have at their end, less what
/// they have now, and what each job needs while it works, which is a checkpoint that is written aside and, where
/// weights are not kept, the run's own.
uint64_t bytes_to_come(const std::filesystem::path& study, const StudyPlan& plan, int64_t jobs, Keep keep = Keep::all);

}  // namespace lengthwise
