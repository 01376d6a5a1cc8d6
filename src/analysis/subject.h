#pragma once
/// A run that an analysis looks at.
#include <filesystem>
#include <string>

#include "eval/load_run.h"
#include "model/decoder.h"

namespace lengthwise {

struct Subject {
  std::filesystem::path folder;
  std::string name;     ///< of the folder
  std::string weights;  ///< best or last
  LoadedRun run;
  int64_t trained_length = 0;  ///< the longest of training, in the task's unit

  const Model& model() const { return *run.model; }
  /// For what looks at attention. UserError where the run is of an architecture without.
  const Decoder& decoder() const;
  at::Device device() const { return run.model->device(); }
  /// Of a recurrent network its architecture.
  const std::string& encoding() const { return run.config.model.compared(); }
};

/// Loads a run in full precision (fp32 products): what is looked at is what was learned, not how it is rounded.
/// `weights` is best or last, `device` cpu, cuda or auto. UserError as load_run says.
Subject load_subject(const std::filesystem::path& folder, const std::string& weights, const std::string& device);

/// The model as it was before its first step, on the run's device.
std::unique_ptr<Model> untrained_twin(const Subject& subject);

}  // namespace lengthwise
