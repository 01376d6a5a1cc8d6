#include "train/step_inputs.h"

#include <ATen/ATen.h>

#include <cmath>

#include "train/schedule.h"

namespace lengthwise {

BatchPart batch_part(int64_t sequences, int64_t part, int64_t parts) {
  const int64_t first = part * sequences / parts;
  return {first, (part + 1) * sequences / parts - first};
}

StepInputs::StepInputs(const TrainConfig& config, const TokenSet& examples, const Placing& placing)
    : config_(config),
      examples_(examples),
      placing_(placing),
      order_(examples.size(), config.batch_size, static_cast<uint64_t>(config.seed)),
      rng_(static_cast<uint64_t>(config.seed)) {}

Batch StepInputs::batch(int64_t step, int64_t part) {
  const std::span<const int64_t> examples = order_.examples_of(step);
  const std::span<const int64_t> starts = random_starts(examples, step);
  const BatchPart own = batch_part(std::ssize(examples), part, parts());
  const auto cut = [&own](std::span<const int64_t> all) {
    return all.subspan(static_cast<size_t>(own.first), static_cast<size_t>(own.count));
  };
  return make_batch(examples_, cut(examples), starts.empty() ? starts : cut(starts),
                    {.placing = &placing_, .rng = &rng_, .step = step});
}

StepDropout StepInputs::dropout(int64_t step, int64_t part) const {
  Rng rng = rng_.stream("dropout").at(static_cast<uint64_t>(step));
  uint64_t seed = rng.next64();
  for (int64_t i = 0; i < part; ++i) seed = rng.next64();
  return {config_.model.dropout, seed, static_cast<double>(step) / static_cast<double>(config_.steps)};
}

int64_t StepInputs::target_count(int64_t step) {
  int64_t targets = 0;
  for (const int64_t example : order_.examples_of(step)) targets += std::ssize(examples_.target(example));
  return targets;
}

void StepInputs::finish(int64_t step, double loss, double gradient_norm, Update update, Parameters& parameters,
                        TrainState& state, StepMetrics& metrics) const {
  AdamWStep how{.step = step + 1,
                .lr = learning_rate(step, config_.steps, warmup_steps(config_), config_.lr, config_.lr_end),
                .beta1 = config_.beta1,
                .beta2 = config_.beta2,
                .epsilon = config_.epsilon,
                .weight_decay = config_.weight_decay,
                .gradient_scale = 1};
  if (config_.clip > 0 && gradient_norm > config_.clip) how.gradient_scale = config_.clip / (gradient_norm + 1e-6);
  metrics.loss = loss;
  metrics.gradient_norm = gradient_norm;
  metrics.lr = how.lr;
  at::Tensor values = parameters.values();
  at::Tensor gradients = parameters.gradients();
  if (std::isfinite(loss) && std::isfinite(gradient_norm)) {
    update(values, gradients, state.first, state.second, parameters.decayed(), how);
  } else {
    metrics.not_finite = step + 1;
    gradients.zero_();
  }
}

std::span<const int64_t> StepInputs::random_starts(std::span<const int64_t> examples, int64_t step) {
  starts_.clear();
  if (config_.random_offset == 0) return {};
  Rng rng = rng_.stream("offsets").at(static_cast<uint64_t>(step));
  for (const int64_t example : examples) {
    const auto tokens = static_cast<int64_t>(examples_.sequence(example).size()) - 1;
    starts_.push_back(rng.between(0, config_.random_offset - tokens));
  }
  return starts_;
}

}  // namespace lengthwise
