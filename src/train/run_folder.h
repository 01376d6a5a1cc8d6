#pragma once
/// A run is a folder (docs/formats.md): opened for writing by one process at a time, never overwritten by another run.
#include <filesystem>
#include <optional>
#include <string>

#include "core/error.h"
#include "core/files.h"
#include "train/folder_lock.h"
#include "train/train_config.h"

namespace lengthwise {

/// Another process trains there.
class RunBusy : public UserError {
 public:
  using UserError::UserError;
};

/// A program that knows more wrote it: it is neither damaged nor a run of another configuration.
class NewerRun : public UserError {
 public:
  using UserError::UserError;
};

class RunFolder {
 public:
  /// Opens the folder for training, creating it when it does not exist. UserError when it holds something else or a run
  /// of another configuration (the first option that differs is named), RunBusy when another process trains in it.
  /// A run that has not done anything yet makes room for another. What a writer that died left unfinished is removed.
  static RunFolder open(const std::filesystem::path& path, const TrainConfig& config);

  /// Holds the run to the data it began with (data/fingerprint.h): UserError when these are others. A run that has no
  /// checkpoint yet begins with them; one that an earlier version began is not checked.
  void keep_data(const std::string& fingerprint) const;

  /// Keeps what the model's encoding was told of its training data (ModelConfig::trained_length, trained_room), unless
  /// the run has begun.
  void keep_trained(const ModelConfig& model) const;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path file(const std::string& name) const { return path_ / name; }
  bool has_state() const { return is_there(file("state.safetensors")); }
  bool finished() const { return is_there(file("summary.json")); }

 private:
  RunFolder(std::filesystem::path path, FolderLock lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  std::filesystem::path path_;
  FolderLock lock_;
};

/// Whether the run is finished and its weights were removed since (`study --keep results`).
bool weights_were_dropped(const std::filesystem::path& run);

/// The configuration saved in a run's folder; what it does not name has its default. UserError when there is none,
/// NewerRun when it names something unknown.
TrainConfig read_run_config(const std::filesystem::path& run);

/// What the encoding of a run that has begun was told of its training data stays, whatever would be found in them now:
/// earlier versions told it nothing. Changes nothing where no run has begun.
void adopt_trained(const std::filesystem::path& run, ModelConfig& model);

/// The first option in which the run saved in a folder differs from `config`, as `--lr is 0.1 there and 0.2 here`; ""
/// when they are the same run. An option that is missing there has its default: the run is older than the option. What
/// does not decide results, the number of threads, does not count, and neither do the weights of a start that is named
/// without their checksum. NewerRun when something unknown is there.
std::string difference_to_saved(const std::filesystem::path& run, const TrainConfig& config);

/// The --data-version with which the run saved in a folder is the one of `config`, where nothing else sets them apart:
/// the data of some tasks were drawn otherwise once (data/data_config.h). Nothing where it is damaged, too.
std::optional<int64_t> data_version_to_go_on(const std::filesystem::path& run, TrainConfig config);

/// The text of config.json.
std::string run_config_json(const TrainConfig& config);

}  // namespace lengthwise
