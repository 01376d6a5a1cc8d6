#include <ATen/ATen.h>

#include <cmath>

#include "kernels/adamw.h"
#include "train/learner.h"
#include "train/step_inputs.h"

namespace lengthwise {
namespace {

class CpuLearner : public Learner {
 public:
  CpuLearner(const TrainConfig& config, const TokenSet& examples, Model& model, TrainState& state)
      : model_(model),
        state_(state),
        inputs_(config, examples, model.placing()),
        engine_(model.engine(arithmetic_of(config.precision))) {}

  int64_t step(int64_t step) override {
    Parameters& parameters = model_.parameters();
    const auto targets = static_cast<double>(inputs_.target_count(step));
    int64_t tokens = 0;
    double loss = 0;
    for (int64_t part = 0; part < inputs_.parts(); ++part) {
      const Batch batch = inputs_.batch(step, part);
      const TargetScores scores = engine_->accumulate_gradients(batch, inputs_.dropout(step, part), 1.0 / targets);
      loss += scores.losses.mean().item<double>() * (static_cast<double>(batch.target_count()) / targets);
      tokens += batch.token_count();
    }
    inputs_.finish(step, loss, arena_norm(parameters.gradients()), adamw_update, parameters, state_, metrics_);
    return tokens;
  }

  StepMetrics metrics() override { return metrics_; }
  bool runs_ahead() const override { return false; }
  Scorer& scorer() override { return *engine_; }

 private:
  Model& model_;
  TrainState& state_;
  StepInputs inputs_;
  std::unique_ptr<Engine> engine_;
  StepMetrics metrics_;
};

}  // namespace

int64_t warmup_steps(const TrainConfig& config) {
  return static_cast<int64_t>(std::ceil(config.warmup * static_cast<double>(config.steps)));
}

std::unique_ptr<Learner> make_cpu_learner(const TrainConfig& config, const TokenSet& examples, Model& model,
                                          TrainState& state) {
  return std::make_unique<CpuLearner>(config, examples, model, state);
}

}  // namespace lengthwise
