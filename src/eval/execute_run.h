#pragma once
/// A whole run: data, training, evaluation.
#include <filesystem>
#include <functional>

#include "core/progress.h"
#include "eval/run_results.h"

namespace lengthwise {

/// The configuration with everything that was left open filled in, and the data it leads to.
struct PreparedRun {
  TrainConfig config;
  ResolvedData resolved;
  DataSet data;
};

/// Checks the configuration and makes the data; nothing is written.
PreparedRun prepare_run(const TrainConfig& config);

/// Trains and evaluates in `out`, from wherever an earlier call left off.
std::vector<SelectionResult> execute_run(const PreparedRun& run, const std::filesystem::path& out, Progress& progress);

}  // namespace lengthwise
