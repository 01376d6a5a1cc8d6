#include <ATen/ATen.h>

#include <cmath>

#include "batch/assemble.h"
#include "kernels/adamw.h"
#include "model/cpu_engine.h"
#include "train/learner.h"
#include "train/schedule.h"

namespace lengthwise {
namespace {

class CpuLearner : public Learner {
 public:
  CpuLearner(const TrainConfig& config, const TokenSet& examples, Decoder& decoder, TrainState& state)
      : config_(config),
        examples_(examples),
        decoder_(decoder),
        state_(state),
        engine_(decoder, arithmetic_of(config.precision)),
        order_(examples.size(), config.batch_size, static_cast<uint64_t>(config.seed)),
        rng_(static_cast<uint64_t>(config.seed)) {}

  int64_t step(int64_t step) override {
    Parameters& parameters = decoder_.parameters();
    const std::span<const int64_t> examples = order_.examples_of(step);
    const Batch batch = make_batch(examples_, examples, random_starts(examples, step));
    const StepDropout dropout{config_.model.dropout, rng_.stream("dropout").at(static_cast<uint64_t>(step)).next64()};
    const TargetScores scores =
        engine_.accumulate_gradients(batch, dropout, 1.0 / static_cast<double>(batch.target_count()));
    at::Tensor values = parameters.values();
    at::Tensor gradients = parameters.gradients();
    metrics_.loss = scores.losses.mean().item<double>();
    metrics_.gradient_norm = arena_norm(gradients);
    metrics_.lr = learning_rate(step, config_.steps, warmup_steps(config_), config_.lr, config_.lr_end);
    if (!std::isfinite(metrics_.loss) || !std::isfinite(metrics_.gradient_norm)) {
      metrics_.not_finite = step + 1;
      gradients.zero_();
      return batch.token_count();
    }
    AdamWStep update{.step = step + 1,
                     .lr = metrics_.lr,
                     .beta1 = config_.beta1,
                     .beta2 = config_.beta2,
                     .epsilon = config_.epsilon,
                     .weight_decay = config_.weight_decay,
                     .gradient_scale = 1};
    const double norm = metrics_.gradient_norm;
    if (config_.clip > 0 && norm > config_.clip) update.gradient_scale = config_.clip / (norm + 1e-6);
    adamw_update(values, gradients, state_.first, state_.second, parameters.decayed(), update);
    return batch.token_count();
  }

  StepMetrics metrics() override { return metrics_; }
  bool runs_ahead() const override { return false; }
  Scorer& scorer() override { return engine_; }

 private:
  std::span<const int64_t> random_starts(std::span<const int64_t> examples, int64_t step) {
    starts_.clear();
    if (config_.random_offset == 0) return {};
    Rng rng = rng_.stream("offsets").at(static_cast<uint64_t>(step));
    for (const int64_t example : examples) {
      const auto tokens = static_cast<int64_t>(examples_.sequence(example).size()) - 1;
      starts_.push_back(rng.between(0, config_.random_offset - tokens));
    }
    return starts_;
  }

  const TrainConfig& config_;
  const TokenSet& examples_;
  Decoder& decoder_;
  TrainState& state_;
  CpuEngine engine_;
  EpochOrder order_;
  Rng rng_;
  StepMetrics metrics_;
  std::vector<int64_t> starts_;
};

}  // namespace

int64_t warmup_steps(const TrainConfig& config) {
  return static_cast<int64_t>(std::ceil(config.warmup * static_cast<double>(config.steps)));
}

std::unique_ptr<Learner> make_cpu_learner(const TrainConfig& config, const TokenSet& examples, Decoder& decoder,
                                          TrainState& state) {
  return std::make_unique<CpuLearner>(config, examples, decoder, state);
}

}  // namespace lengthwise
