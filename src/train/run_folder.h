#pragma once
/// A run is a folder (docs/formats.md): opened for writing by one process at a time, never overwritten by another run.
#include <filesystem>
#include <string>

#include "train/train_config.h"

namespace lengthwise {

class RunFolder {
 public:
  /// Opens the folder for training, creating it when it does not exist. UserError when it holds something else, a run
  /// of another configuration (the first option that differs is named), or when another process trains in it.
  static RunFolder open(const std::filesystem::path& path, const TrainConfig& config);

  RunFolder(RunFolder&& other) noexcept;
  RunFolder& operator=(RunFolder&&) = delete;
  ~RunFolder();

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path file(const std::string& name) const { return path_ / name; }
  bool has_state() const { return std::filesystem::exists(file("state.safetensors")); }
  bool finished() const { return std::filesystem::exists(file("summary.json")); }

 private:
  RunFolder(std::filesystem::path path, int lock) : path_(std::move(path)), lock_(lock) {}

  std::filesystem::path path_;
  int lock_ = -1;
};

/// The configuration saved in a run's folder; UserError when there is none.
TrainConfig read_run_config(const std::filesystem::path& run);

/// The text of config.json.
std::string run_config_json(const TrainConfig& config);

}  // namespace lengthwise
