#pragma once
/// What a training step is made from, whoever makes it: its examples, where their positions start, its dropout and its
/// update. All of it follows from the configuration and the step's number.
#include <span>
#include <vector>

#include "batch/assemble.h"
#include "kernels/adamw.h"
#include "model/decoder.h"
#include "train/train_config.h"

namespace lengthwise {

class StepInputs {
 public:
  StepInputs(const TrainConfig& config, const TokenSet& examples);

  Batch batch(int64_t step);
  StepDropout dropout(int64_t step) const;
  /// With clipping to the norm that the configuration allows.
  AdamWStep update(int64_t step, double gradient_norm) const;

 private:
  std::span<const int64_t> random_starts(std::span<const int64_t> examples, int64_t step);

  const TrainConfig& config_;
  const TokenSet& examples_;
  EpochOrder order_;
  Rng rng_;
  std::vector<int64_t> starts_;
};

}  // namespace lengthwise
