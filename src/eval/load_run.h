#pragma once
/// A finished or unfinished run, loaded for use.
#include <filesystem>
#include <memory>
#include <string>

#include "data/vocabulary.h"
#include "model/model.h"
#include "train/train_config.h"

namespace lengthwise {

struct LoadedRun {
  TrainConfig config;
  Vocabulary vocabulary;
  std::unique_ptr<Model> model;
  int64_t step = 0;         ///< of the weights
  std::string device_note;  ///< why the GPU's fused kernels do not run it; empty otherwise
};

/// `selection` is best or last; `device` is cpu, cuda or auto, whatever the run was trained on; `precision` as in
/// TrainConfig, empty: the run's own, fitted to the device. UserError when the folder is not a run, has no such weights
/// yet, or holds files that do not belong together or are not those that the finished run wrote. `encoding`: instead of
/// the run's own; whatever it learns must be among the run's weights.
LoadedRun load_run(const std::filesystem::path& folder, const std::string& selection, const std::string& device,
                   const std::string& precision = "", const std::string& encoding = "");

}  // namespace lengthwise
