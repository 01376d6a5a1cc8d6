#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <mutex>

#include "core/device_gate.h"
#include "core/error.h"
#include "kernels/adamw.h"
#include "kernels/one_thread.h"
#include "model/plain_scorer.h"
#include "model/plain_targets.h"
#include "train/learner.h"
#include "train/step_inputs.h"

namespace lengthwise {
namespace {

class PlainLearner : public Learner {
 public:
  PlainLearner(const TrainConfig& config, const TokenSet& examples, Decoder& decoder, TrainState& state)
      : config_(config),
        decoder_(decoder),
        state_(state),
        inputs_(config, examples, decoder.placing()),
        scorer_(decoder, arithmetic_of(config.precision)) {}

  int64_t step(int64_t step) override {
    const auto turn = turn_at(decoder_);
    Parameters& parameters = decoder_.parameters();
    const Batch batch = on_device(inputs_.batch(step), parameters.values().device());
    TargetScores scores;
    try {
      const OneThread one_thread;
      scores = plain_gradients(decoder_, batch, inputs_.dropout(step), arithmetic_of(config_.precision),
                               1.0 / static_cast<double>(batch.target_count()));
    } catch (const c10::OutOfMemoryError&) {
      fail(
          "the GPU is out of memory while training on {} sequences of up to {} tokens by plain tensor operations; a "
          "smaller --batch-size or --model, shorter --train-lengths, fewer --jobs, or --device cpu would fit",
          batch.sequence_count(), batch.longest);
    }
    const at::NoGradGuard no_grad;
    inputs_.finish(step, scores.losses.mean().item<double>(),
                   parameters.gradients().norm(2, at::kDouble).item<double>(), plain_adamw_update, parameters, state_,
                   metrics_);
    return batch.token_count();
  }

  StepMetrics metrics() override { return metrics_; }
  bool runs_ahead() const override { return false; }
  Scorer& scorer() override { return scorer_; }

 private:
  const TrainConfig& config_;
  Decoder& decoder_;
  TrainState& state_;
  StepInputs inputs_;
  PlainScorer scorer_;
  StepMetrics metrics_;
};

/// Torch loads its library of linear algebra for GPUs when it is first asked for a solution, and two threads must not
/// be first at the same time.
void load_linear_algebra() {
  static std::once_flag loaded;
  std::call_once(loaded, [] {
    const std::shared_lock turn(device_gate());
    const at::Tensor one = at::ones({1, 1}, at::kCUDA);
    at::linalg_solve_triangular(one, one, /*upper=*/false, /*left=*/true, /*unitriangular=*/true);
  });
}

}  // namespace

std::unique_ptr<Learner> make_plain_learner(const TrainConfig& config, const TokenSet& examples, Decoder& decoder,
                                            TrainState& state) {
  if (!decoder.parameters().values().is_cpu()) load_linear_algebra();
  return std::make_unique<PlainLearner>(config, examples, decoder, state);
}

}  // namespace lengthwise
