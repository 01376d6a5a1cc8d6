#pragma once
/// Losses of a batch's targets by ordinary tensor operations, and their gradients by autograd, with the head in pieces
/// (head_pieces.h).
#include "model/model.h"

namespace lengthwise {

/// On the batch's device.
TargetScores plain_scores(const Model& model, const Batch& batch, Arithmetic arithmetic = Arithmetic::full);

/// The same with dropout; adds the gradient of the losses' sum, weighted by `weights` [target] or by one number for
/// all, to the parameters' gradients.
TargetScores plain_gradients(const Model& model, const Batch& batch, const StepDropout& dropout, Arithmetic arithmetic,
                             const at::Tensor& weights);
TargetScores plain_gradients(const Model& model, const Batch& batch, const StepDropout& dropout, Arithmetic arithmetic,
                             double weight);

}  // namespace lengthwise
