#pragma once
/// A whole run: data, training, evaluation.
#include <filesystem>
#include <functional>
#include <memory>

#include "core/progress.h"
#include "eval/run_results.h"

namespace lengthwise {

/// The configuration with everything that was left open filled in, and the data it leads to.
struct PreparedRun {
  TrainConfig config;
  ResolvedData resolved;
  std::shared_ptr<const DataSet> data;
  std::string fingerprint;  ///< of the data
  std::string device_note;  ///< why the GPU's fused kernels do not run it; empty otherwise
};

/// The configuration with everything that was left open filled in. The vocabulary's size is a function of the data
/// (data/data_set.h: make_vocabulary), so that nothing needs to be drawn for this. Weights to start from are read for
/// their checksum. `note`: as PreparedRun's. `longest`: tokens of the longest training sequence, where the data are
/// there already: a GPU does not run all lengths.
TrainConfig complete_config(const TrainConfig& config, int64_t vocabulary_size, std::string* note = nullptr,
                            int64_t longest = 0);

/// Checks the configuration and makes the data, unless they are there already (they depend on config.data alone);
/// nothing is written.
PreparedRun prepare_run(const TrainConfig& config, std::shared_ptr<const DataSet> data = nullptr);

/// Trains and evaluates in `out`, from wherever an earlier call left off. A run that is finished is left as it is: its
/// files are checked and its results read. What can be refused is refused before anything is written.
std::vector<SelectionResult> execute_run(const PreparedRun& run, const std::filesystem::path& out, Progress& progress);

/// The same in a folder that is open already; `after_step` as in train/trainer.h.
std::vector<SelectionResult> execute_run(const PreparedRun& run, const RunFolder& folder, Progress& progress,
                                         const std::function<void(int64_t)>& after_step = nullptr);

}  // namespace lengthwise
