#pragma once
/// Losses of a batch's targets by the plain decoder, and their gradients, with the head in pieces (head_pieces.h).
#include "model/plain_decoder.h"
#include "model/scorer.h"

namespace lengthwise {

/// On the batch's device.
TargetScores plain_scores(const Decoder& decoder, const Batch& batch, Arithmetic arithmetic = Arithmetic::full);

/// The same with dropout; adds the gradient of the losses' sum, weighted by `weights` [target] or by one number for
/// all, to the parameters' gradients.
TargetScores plain_gradients(const Decoder& decoder, const Batch& batch, const StepDropout& dropout,
                             Arithmetic arithmetic, const at::Tensor& weights);
TargetScores plain_gradients(const Decoder& decoder, const Batch& batch, const StepDropout& dropout,
                             Arithmetic arithmetic, double weight);

}  // namespace lengthwise
