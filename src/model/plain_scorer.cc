#include "model/plain_scorer.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "core/device_gate.h"

namespace lengthwise {

Batch on_device(Batch batch, at::Device device) {
  for (at::Tensor* tensor :
       {&batch.tokens, &batch.offsets, &batch.positions, &batch.loss_rows, &batch.targets, &batch.target_offsets})
    *tensor = tensor->to(device);
  return batch;
}

std::shared_lock<std::shared_mutex> turn_at(const Decoder& decoder) {
  return decoder.parameters().values().is_cpu() ? std::shared_lock<std::shared_mutex>()
                                                : std::shared_lock(device_gate());
}

TargetScores PlainScorer::score(const Batch& batch) {
  const at::NoGradGuard no_grad;
  const auto turn = turn_at(decoder_);
  const Batch there = on_device(batch, decoder_.parameters().values().device());
  const at::Tensor logits = plain_logits(decoder_, there, {}, nullptr, arithmetic_);
  const at::Tensor losses = at::nll_loss(at::log_softmax(logits, -1), there.targets, {}, at::Reduction::None);
  return {losses.cpu(), logits.argmax(-1).cpu()};
}

}  // namespace lengthwise
