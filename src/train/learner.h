#pragma once
/// Something that makes a model learn: one optimizer step after the other on some device.
///
/// The learner owns the order of the examples; the loop around it (trainer.h) owns files and time. The model's
/// parameters and the state's moments lie where the learner works. It may run ahead of the device: `step` returns when
/// the step is on its way.
#include <cstdint>
#include <functional>
#include <memory>

#include "data/token_set.h"
#include "model/model.h"
#include "train/checkpoint.h"
#include "train/train_config.h"

namespace lengthwise {

/// Of the last step.
struct StepMetrics {
  double loss = 0;           ///< mean over the batch's targets
  double gradient_norm = 0;  ///< before clipping
  double lr = 0;
  int64_t not_finite = 0;  ///< number (from 1) of the step whose loss or gradient was not finite; 0: none
};

class Learner {
 public:
  virtual ~Learner() = default;

  /// Carries out step number `step` (from 0); gives the number of its tokens.
  virtual int64_t step(int64_t step) = 0;

  /// Waits for the steps so far; the model's parameters are up to date only then. After a step that was not finite,
  /// parameters and moments are those before it.
  virtual StepMetrics metrics() = 0;

  /// Whether `metrics` waits for the device: then it is asked for only where it is needed.
  virtual bool runs_ahead() const = 0;

  virtual Scorer& scorer() = 0;
};

using MakeLearner = std::function<std::unique_ptr<Learner>(const TrainConfig&, const TokenSet&, Model&, TrainState&)>;

/// On the CPU. `state` holds the moments to go on from and is updated in place; all arguments must outlive the learner.
std::unique_ptr<Learner> make_cpu_learner(const TrainConfig& config, const TokenSet& examples, Model& model,
                                          TrainState& state);

/// Steps over which the learning rate rises.
int64_t warmup_steps(const TrainConfig& config);

}  // namespace lengthwise
