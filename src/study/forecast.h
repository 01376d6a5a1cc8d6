#pragma once
/// How long a study will still take, from how long it took so far.
#include <optional>
#include <vector>

#include "study/board.h"
#include "study/keep.h"
#include "study/plan.h"

namespace lengthwise {

class Forecast {
 public:
  Forecast(const StudyPlan& plan, int64_t jobs);

  /// Seconds until a run ends. One that makes progress here goes on as it did; others take as long as finished ones
  /// that differ from them in encoding and seed alone, or else in proportion to their work. Empty: nothing to go by.
  std::optional<double> seconds_left(size_t run, const std::vector<BoardEntry>& entries) const;

  /// Seconds until all selected runs end: the work left divided over the jobs, but no less than the longest of it.
  std::optional<double> seconds_left(const std::vector<BoardEntry>& entries) const;

 private:
  std::optional<double> whole_run(size_t run, const std::vector<BoardEntry>& entries) const;

  double jobs_;
  std::vector<double> work_;
  std::vector<bool> selected_;
  std::vector<size_t> kind_;  ///< equal for runs that differ in encoding and seed alone
};

/// What a run costs.
struct RunCost {
  double seconds = 0;
  uint64_t bytes = 0;  ///< on the disk
};

/// best.safetensors, last.safetensors and state.safetensors, and the other files, which are small beside them.
uint64_t disk_bytes(const TrainConfig& config, Keep keep = Keep::all);

/// Seconds for these runs in this order when each job takes the next one as soon as it is free.
double scheduled_seconds(const std::vector<double>& seconds, int64_t jobs);

}  // namespace lengthwise
