#pragma once
/// What a training step is made from, whoever makes it: its examples, where their positions start, its dropout and its
/// update. All of it follows from the configuration and the step's number.
#include <span>
#include <vector>

#include "batch/assemble.h"
#include "kernels/adamw.h"
#include "model/model.h"
#include "train/learner.h"
#include "train/train_config.h"

namespace lengthwise {

/// Part `part` of `parts` of a step's batch: `count` of its sequences, from number `first` on.
struct BatchPart {
  int64_t first = 0, count = 0;
};
BatchPart batch_part(int64_t sequences, int64_t part, int64_t parts);

class StepInputs {
 public:
  /// `placing`: as the model's.
  StepInputs(const TrainConfig& config, const TokenSet& examples, const Placing& placing);

  int64_t parts() const { return config_.accumulate; }
  /// Part `part` of the step's batch.
  Batch batch(int64_t step, int64_t part = 0);
  StepDropout dropout(int64_t step, int64_t part = 0) const;
  /// Of all parts together.
  int64_t target_count(int64_t step);

  /// adamw_update or its plain twin.
  using Update = decltype(&adamw_update);
  /// Ends a step whose gradients are there: says what it was in `metrics` and moves the parameters, clipped to the norm
  /// that the configuration allows; one that is not finite moves nothing. The gradients are zero afterwards.
  void finish(int64_t step, double loss, double gradient_norm, Update update, Parameters& parameters, TrainState& state,
              StepMetrics& metrics) const;

 private:
  std::span<const int64_t> random_starts(std::span<const int64_t> examples, int64_t step);

  const TrainConfig& config_;
  const TokenSet& examples_;
  const Placing& placing_;
  EpochOrder order_;
  Rng rng_;
  std::vector<int64_t> starts_;
};

}  // namespace lengthwise
