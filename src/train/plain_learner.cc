#include "train/plain_learner.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <mutex>

#include "core/device_gate.h"
#include "core/error.h"
#include "kernels/adamw.h"
#include "kernels/one_thread.h"
#include "model/plain_scorer.h"
#include "model/plain_targets.h"
#include "train/step_inputs.h"

namespace lengthwise {
namespace {

class PieceByPiece : public PlainGradients {
 public:
  PieceByPiece(const Model& model, Arithmetic arithmetic) : model_(model), arithmetic_(arithmetic) {}

  at::Tensor add(const Batch& batch, const StepDropout& dropout, double weight) override {
    const auto turn = turn_at(model_);
    const OneThread one_thread;
    const Batch there = on_device(batch, model_.parameters().values().device());
    return plain_gradients(model_, there, dropout, arithmetic_, weight).losses.sum() * weight;
  }

 private:
  const Model& model_;
  Arithmetic arithmetic_;
};

class PlainLearner : public Learner {
 public:
  PlainLearner(const TrainConfig& config, const TokenSet& examples, Model& model, TrainState& state,
               std::unique_ptr<PlainGradients> gradients)
      : model_(model),
        state_(state),
        inputs_(config, examples, model.placing()),
        gradients_(std::move(gradients)),
        scorer_(model, arithmetic_of(config.precision)) {}

  int64_t step(int64_t step) override {
    Parameters& parameters = model_.parameters();
    const double weight = 1.0 / static_cast<double>(inputs_.target_count(step));
    int64_t tokens = 0;
    at::Tensor loss;
    for (int64_t part = 0; part < inputs_.parts(); ++part) {
      const Batch batch = inputs_.batch(step, part);
      tokens += batch.token_count();
      try {
        const at::Tensor share = gradients_->add(batch, inputs_.dropout(step, part), weight);
        loss = inputs_.parts() == 1 ? share : sum(loss, share);
      } catch (const c10::OutOfMemoryError&) {
        fail(
            "the GPU is out of memory while training on {} sequences of up to {} tokens by plain tensor operations; a "
            "smaller --batch-size or --model, a larger --accumulate, shorter --train-lengths, fewer --jobs, or "
            "--device cpu would fit",
            batch.sequence_count(), batch.longest);
      }
    }
    wait_for_device(model_);
    const auto turn = turn_at(model_);
    const at::NoGradGuard no_grad;
    inputs_.finish(step, loss.item<double>(), parameters.gradients().norm(2, at::kDouble).item<double>(),
                   plain_adamw_update, parameters, state_, metrics_);
    return tokens;
  }

  StepMetrics metrics() override { return metrics_; }
  bool runs_ahead() const override { return false; }
  Scorer& scorer() override { return scorer_; }

 private:
  /// A tensor of its own: the next part overwrites its share.
  at::Tensor sum(const at::Tensor& before, const at::Tensor& share) const {
    const auto turn = turn_at(model_);
    return before.defined() ? before + share : share.clone();
  }

  Model& model_;
  TrainState& state_;
  StepInputs inputs_;
  std::unique_ptr<PlainGradients> gradients_;
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

std::unique_ptr<PlainGradients> make_plain_gradients(const Model& model, Arithmetic arithmetic) {
  return std::make_unique<PieceByPiece>(model, arithmetic);
}

std::unique_ptr<Learner> make_plain_learner_with(const TrainConfig& config, const TokenSet& examples, Model& model,
                                                 TrainState& state, std::unique_ptr<PlainGradients> gradients) {
  if (!model.parameters().values().is_cpu()) load_linear_algebra();
  return std::make_unique<PlainLearner>(config, examples, model, state, std::move(gradients));
}

std::unique_ptr<Learner> make_plain_learner(const TrainConfig& config, const TokenSet& examples, Model& model,
                                            TrainState& state) {
  return make_plain_learner_with(config, examples, model, state,
                                 make_plain_gradients(model, arithmetic_of(config.precision)));
}

}  // namespace lengthwise
