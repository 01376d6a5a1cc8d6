#include "model/plain_scorer.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "core/device_gate.h"
#include "model/plain_targets.h"

namespace lengthwise {

Batch on_device(Batch batch, at::Device device) {
  for (at::Tensor* tensor :
       {&batch.tokens, &batch.offsets, &batch.positions, &batch.loss_rows, &batch.targets, &batch.target_offsets})
    *tensor = tensor->to(device);
  for (at::Tensor& stream : batch.streams) stream = stream.to(device);
  return batch;
}

std::shared_lock<std::shared_mutex> turn_at(const Model& model) {
  return model.parameters().values().is_cpu() ? std::shared_lock<std::shared_mutex>() : std::shared_lock(device_gate());
}

TargetScores PlainScorer::score(const Batch& batch) {
  const at::NoGradGuard no_grad;
  const auto turn = turn_at(model_);
  const Batch there = on_device(batch, model_.parameters().values().device());
  const TargetScores scores = plain_scores(model_, there, arithmetic_);
  return {scores.losses.cpu(), scores.best.cpu()};
}

}  // namespace lengthwise
