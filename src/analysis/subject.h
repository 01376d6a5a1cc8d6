#pragma once
/// A run that an analysis looks at.
#include <filesystem>
#include <string>

#include "eval/load_run.h"

namespace lengthwise {

struct Subject {
  std::filesystem::path folder;
  std::string name;     ///< of the folder
  std::string weights;  ///< best or last
  LoadedRun run;
  int64_t trained_length = 0;  ///< the longest of training, in the task's unit

  const Decoder& decoder() const { return *run.decoder; }
  at::Device device() const { return run.decoder->embedding().value.device(); }
  const std::string& encoding() const { return run.config.model.encoding; }
};

/// Loads a run in full precision (fp32 products): what is looked at is what was learned, not how it is rounded.
/// `weights` is best or last, `device` cpu, cuda or auto. UserError as load_run says.
Subject load_subject(const std::filesystem::path& folder, const std::string& weights, const std::string& device);

/// The decoder as it was before its first step, on the run's device.
std::unique_ptr<Decoder> untrained_twin(const Subject& subject);

}  // namespace lengthwise
