#pragma once
/// The training loop: steps of a learner, metrics, validation, checkpoints. No policy.
#include <functional>

#include "core/progress.h"
#include "data/data_set.h"
#include "train/learner.h"
#include "train/run_folder.h"

namespace lengthwise {

/// Trains the run in the folder from where it stands to its last step and writes best.safetensors and last.safetensors.
/// `config` is resolved, and the data are fit for it (trainable.h). Interrupted at any moment and called again, it ends
/// in the same bits.
/// A loss or weights that are not finite are a UserError that names the step, the last checkpoint and a remedy; nothing
/// of them is written.
/// Stopped by an Interrupted out of `progress`, in a step or within a validation, it first saves where it was.
/// `after_step(steps done)` is called after every step, once its checkpoint, if any, is written.
/// Gives the seconds of training, of all processes that worked on it.
double train(const TrainConfig& config, const DataSet& data, Model& model, const RunFolder& folder, Progress& progress,
             const std::function<void(int64_t)>& after_step = nullptr,
             const MakeLearner& make_learner = make_cpu_learner);

/// The examples of the validation set that a run looks at: shuffled by its seed, then cut to the portion (section 3.1).
std::vector<int64_t> validation_subset(const TrainConfig& config, int64_t size);

}  // namespace lengthwise
