#pragma once
/// The results of a study as its runs' summary.json state them.
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "study/plan.h"

namespace lengthwise {

struct RunResult {
  double in_distribution = 0;
  double out_of_distribution = 0;
};

/// Of one run's folder; empty when it is not finished.
std::optional<RunResult> read_result(const std::filesystem::path& run);

/// Whether the run is there and finished in the configuration asked for.
bool is_finished(const std::filesystem::path& study, const StudyRun& run);

/// Means over the finished seeds of one split and encoding.
struct StudyRow {
  std::string split;
  std::string encoding;
  int64_t seeds = 0;
  RunResult mean;
};

/// In the order of the plan; without the rows in which nothing is finished.
std::vector<StudyRow> study_rows(const std::filesystem::path& study, const StudyPlan& plan);

/// Bytes that the runs which are not finished will still take: what they will have at their end, less what they have
/// now, and one checkpoint more for each job, which is written aside.
uint64_t bytes_to_come(const std::filesystem::path& study, const StudyPlan& plan, int64_t jobs);

}  // namespace lengthwise
