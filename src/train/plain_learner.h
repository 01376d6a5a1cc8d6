#pragma once
/// Training by ordinary tensor operations, on whichever device the model lies: for what no fused kernels apply.
#include "batch/batch.h"
#include "train/learner.h"

namespace lengthwise {

/// Adds the gradient of `weight` times the summed loss of a batch, which lies on the host, to the model's gradients.
class PlainGradients {
 public:
  virtual ~PlainGradients() = default;
  /// Gives `weight` times the summed loss: one number, where the model lies, valid until the next call.
  virtual at::Tensor add(const Batch& batch, const StepDropout& dropout, double weight) = 0;
};

/// Operation by operation.
std::unique_ptr<PlainGradients> make_plain_gradients(const Model& model, Arithmetic arithmetic);

/// `gradients`: how they are made. All other arguments must outlive the learner.
std::unique_ptr<Learner> make_plain_learner_with(const TrainConfig& config, const TokenSet& examples, Model& model,
                                                 TrainState& state, std::unique_ptr<PlainGradients> gradients);

/// Operation by operation.
std::unique_ptr<Learner> make_plain_learner(const TrainConfig& config, const TokenSet& examples, Model& model,
                                            TrainState& state);

}  // namespace lengthwise
