#pragma once
/// The numbers of a run while it trains: metrics.jsonl, and the same for TensorBoard (docs/formats.md).
#include <string>
#include <utility>
#include <vector>

#include "infer/teacher_forcing.h"
#include "train/event_file.h"
#include "train/learner.h"
#include "train/run_folder.h"

namespace lengthwise {

class RunLog {
 public:
  /// Cuts off what belongs to steps after the checkpoint: they are repeated and write it again. UserError when lines of
  /// the steps done are missing or changed.
  RunLog(const RunFolder& folder, const TrainState& state);

  void step(int64_t step, const StepMetrics& metrics);

  /// What a validation found, by the name of the set.
  void validation(int64_t step, const std::vector<std::pair<std::string, SetScore>>& scores);

  /// Writes down in the state how much there is.
  void note(TrainState& state) const;

 private:
  std::filesystem::path metrics_;
  std::filesystem::path events_path_;
  EventFile events_;
};

}  // namespace lengthwise
