#pragma once
/// What is known of each run of a study, and study.json, which holds it (docs/formats.md).
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "study/plan.h"

namespace lengthwise {

enum class RecordState { waiting, running, finished, failed };
std::string to_text(RecordState state);

struct RunRecord {
  RecordState state = RecordState::waiting;
  int64_t step = 0;
  int64_t steps = 0;
  std::optional<double> best_accuracy;  ///< on validation, so far
  double seconds = 0;                   ///< of work on it so far, by all processes
  double machine_seconds = 0;           ///< the same, each divided by how many runs its process did at that time
  std::string reason;                   ///< of a failed run

  bool final() const { return state == RecordState::finished || state == RecordState::failed; }
};

std::string study_json(const StudyPlan& plan, const std::vector<RunRecord>& records);

/// The records of a study.json by the names of their runs; empty when there is no such file or it is damaged.
std::map<std::string, RunRecord> read_study_json(const std::filesystem::path& path);

/// The name of the study; empty when there is no such file or it is damaged.
std::optional<std::string> read_study_name(const std::filesystem::path& path);

/// The last step and the best accuracy that a run's metrics.jsonl speaks of; nothing of one that cannot be read, which
/// whoever asks for results will say.
void read_metrics(const std::filesystem::path& run, RunRecord& record);

}  // namespace lengthwise
