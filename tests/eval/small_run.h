#pragma once
/// A run that takes less than a second.
#include <gtest/gtest.h>

#include <filesystem>

#include "core/files.h"
#include "eval/execute_run.h"
#include "tests/core/temporary_folder.h"

namespace lengthwise {

namespace fs = std::filesystem;

/// A folder of this process's own: tests run side by side.
inline fs::path fresh(const std::string& name) {
  static const TemporaryFolder folder;
  remove_folder(folder / name);
  return folder / name;
}

inline TrainConfig small_run(const std::string& encoding) {
  TrainConfig config;
  config.data.task = "sort";
  config.data.train_lengths = LengthRange{1, 3};
  config.data.test_lengths = LengthRange{4, 5};
  config.data.train_count = 600;
  config.data.test_count = 60;
  config.model.layers = 1;
  config.model.width = 32;
  config.model.heads = 2;
  config.model.dropout = 0.1;
  config.model.encoding = encoding;
  config.steps = 24;
  config.batch_size = 16;
  config.lr = 3e-3;
  config.validate_every = 6;
  config.checkpoint_every = 4;
  config.validation_portion = 0.5;
  return config;
}

inline std::vector<SelectionResult> run_in(const fs::path& path, const TrainConfig& config) {
  Progress quiet(Progress::Mode::quiet);
  return execute_run(prepare_run(config), path, quiet);
}

}  // namespace lengthwise
