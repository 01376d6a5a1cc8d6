#include "model/plain_scorer.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "model/plain_targets.h"

namespace lengthwise {

Batch on_device(Batch batch, at::Device device) {
  for (at::Tensor* tensor :
       {&batch.tokens, &batch.offsets, &batch.positions, &batch.loss_rows, &batch.targets, &batch.target_offsets})
    *tensor = tensor->to(device);
  for (at::Tensor& stream : batch.streams) stream = stream.to(device);
  return batch;
}

DeviceTurn turn_at(const Model& model) {
  return model.device().is_cpu() ? DeviceTurn() : DeviceTurn(device_gate());
}

void wait_for_device(const Model& model) {
  const at::Device device = model.device();
  if (!device.is_cpu()) c10::impl::VirtualGuardImpl(device.type()).getStream(device).synchronize();
}

TargetScores PlainScorer::score(const Batch& batch) {
  const at::NoGradGuard no_grad;
  DeviceTurn turn = turn_at(model_);
  const TargetScores scores = plain_scores(model_, on_device(batch, model_.device()), arithmetic_);
  if (turn.owns_lock()) turn.unlock();
  wait_for_device(model_);
  return {scores.losses.cpu(), scores.best.cpu()};
}

}  // namespace lengthwise
