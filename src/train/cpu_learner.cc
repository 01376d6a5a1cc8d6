#include <ATen/ATen.h>

#include <cmath>

#include "kernels/adamw.h"
#include "model/cpu_engine.h"
#include "train/learner.h"
#include "train/step_inputs.h"

namespace lengthwise {
namespace {

class CpuLearner : public Learner {
 public:
  CpuLearner(const TrainConfig& config, const TokenSet& examples, Decoder& decoder, TrainState& state)
      : decoder_(decoder),
        state_(state),
        inputs_(config, examples, decoder.placing()),
        engine_(decoder, arithmetic_of(config.precision)) {}

  int64_t step(int64_t step) override {
    Parameters& parameters = decoder_.parameters();
    const auto targets = static_cast<double>(inputs_.target_count(step));
    int64_t tokens = 0;
    double loss = 0;
    for (int64_t part = 0; part < inputs_.parts(); ++part) {
      const Batch batch = inputs_.batch(step, part);
      const TargetScores scores = engine_.accumulate_gradients(batch, inputs_.dropout(step, part), 1.0 / targets);
      loss += scores.losses.mean().item<double>() * (static_cast<double>(batch.target_count()) / targets);
      tokens += batch.token_count();
    }
    inputs_.finish(step, loss, arena_norm(parameters.gradients()), adamw_update, parameters, state_, metrics_);
    return tokens;
  }

  StepMetrics metrics() override { return metrics_; }
  bool runs_ahead() const override { return false; }
  Scorer& scorer() override { return engine_; }

 private:
  Decoder& decoder_;
  TrainState& state_;
  StepInputs inputs_;
  CpuEngine engine_;
  StepMetrics metrics_;
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
