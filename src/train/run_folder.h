#pragma once
/// A run is a folder (docs/formats.md): opened for writing by one process at a time, never overwritten by another run.
#include <filesystem>
#include <string>

#include "core/error.h"
#include "train/folder_lock.h"
#include "train/train_config.h"

namespace lengthwise {

/// Another process trains there.
class RunBusy : public UserError {
 public:
  using UserError::UserError;
};

class RunFolder {
 public:
  /// Opens the folder for training, creating it when it does not exist. UserError when it holds something else or a run
  /// of another configuration (the first option that differs is named), RunBusy when another process trains in it.
  /// What a writer that died left unfinished is removed.
  static RunFolder open(const std::filesystem::path& path, const TrainConfig& config);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path file(const std::string& name) const { return path_ / name; }
  bool has_state() const { return std::filesystem::exists(file("state.safetensors")); }
  bool finished() const { return std::filesystem::exists(file("summary.json")); }

 private:
  RunFolder(std::filesystem::path path, FolderLock lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  std::filesystem::path path_;
  FolderLock lock_;
};

/// Whether the run is finished and its weights were removed since (`study --keep results`).
bool weights_were_dropped(const std::filesystem::path& run);

/// The configuration saved in a run's folder; UserError when there is none.
TrainConfig read_run_config(const std::filesystem::path& run);

/// The first option in which the run saved in a folder differs from `config`, as `--lr is 0.1 there and 0.2 here`; ""
/// when they are the same run. What does not decide results, the number of threads, does not count.
std::string difference_to_saved(const std::filesystem::path& run, const TrainConfig& config);

/// The text of config.json.
std::string run_config_json(const TrainConfig& config);

}  // namespace lengthwise
