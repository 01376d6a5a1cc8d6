#include "train/trainer.h"

#include <ATen/ATen.h>

#include <cmath>
#include <numeric>

#include "core/device_gate.h"
#include "core/error.h"
#include "infer/teacher_forcing.h"
#include "train/checkpoint.h"
#include "train/run_log.h"
#include "train/write_pace.h"

namespace lengthwise {
namespace {

using Clock = WritePace::Clock;

/// As many of the examples 0 .. size - 1, drawn by the seed's stream of that name, in their order.
std::vector<int64_t> drawn_examples(int64_t seed, const char* stream, int64_t size, int64_t wanted) {
  std::vector<int64_t> examples(static_cast<size_t>(size));
  std::iota(examples.begin(), examples.end(), int64_t{0});
  Rng rng = Rng(static_cast<uint64_t>(seed)).stream(stream);
  rng.shuffle(std::span(examples));
  examples.resize(static_cast<size_t>(std::min(size, wanted)));
  std::sort(examples.begin(), examples.end());
  return examples;
}

class Loop {
 public:
  Loop(const TrainConfig& config, const DataSet& data, Model& model, const RunFolder& folder, Progress& progress,
       const MakeLearner& make_learner)
      : config_(config),
        data_(data),
        model_(model),
        folder_(folder),
        progress_(progress),
        validation_(validation_subset(config, data.validation.size())),
        longer_(drawn_examples(config.seed, "longer", data.test.size(), config.watch_longer)),
        state_(starting_state()),
        log_(folder, state_) {
    if (state_.step > 0) {
      progress.line(fmt::format("resuming {} after step {}", shown(folder.path()), state_.step));
    }
    learner_ = make_learner(config, data.train, model, state_);
  }

  void run(const std::function<void(int64_t)>& after_step) {
    before_ = state_.seconds;
    first_ = state_.step;
    started_ = Clock::now();
    try {
      // Where a validation was cut off, it comes before the next step.
      if (state_.step > 0 && due(config_.validate_every)) finish_step();
      while (state_.step < config_.steps) {
        train_step();
        state_.seconds = before_ + std::chrono::duration<double>(Clock::now() - started_).count();
        finish_step();
        show("");
        if (after_step) after_step(state_.step);
      }
    } catch (const Interrupted&) {
      checkpoint();
      throw;
    }
    check_finite();
    write_weights(folder_.file("last.safetensors"), model_.parameters(), state_.step);
  }

  double seconds() const { return state_.seconds; }

 private:
  TrainState starting_state() {
    const std::shared_lock gate(device_gate());
    Parameters& parameters = model_.parameters();
    if (folder_.has_state()) {
      TrainState state = read_state(folder_.file("state.safetensors"), parameters);
      if (state.step > config_.steps) {
        fail("{} is damaged: its step cannot be {} in a run of {} steps", shown(folder_.file("state.safetensors")),
             state.step, config_.steps);
      }
      return state;
    }
    TrainState state;
    state.first = at::zeros_like(parameters.values());
    state.second = at::zeros_like(parameters.values());
    return state;
  }

  void train_step() {
    state_.tokens += learner_->step(state_.step);
    ++state_.step;
    const bool log = state_.step % log_every() == 0 || state_.step == 1;
    if (learner_->runs_ahead() && !log && !due(config_.validate_every) && !due(config_.checkpoint_every)) return;
    metrics_of_step_ = learner_->metrics();
    if (metrics_of_step_.not_finite > 0) stop_not_finite("the loss is", metrics_of_step_.not_finite);
    if (log) log_.step(state_.step, metrics_of_step_);
  }

  void finish_step() {
    const bool fresh = state_.validated < state_.step;
    if (due(config_.validate_every) && fresh) validate();
    if (due(config_.checkpoint_every) && fresh && (state_.step == config_.steps || pace_.allows(Clock::now()))) {
      checkpoint();
    }
  }

  bool due(int64_t every) const { return state_.step % every == 0 || state_.step == config_.steps; }
  int64_t log_every() const { return std::max<int64_t>(1, config_.steps / 400); }

  SetScore score(const char* name, const TokenSet& set, const std::vector<int64_t>& examples) {
    const std::vector<ExampleScore> scores = score_examples(learner_->scorer(), set, examples, [&](int64_t done) {
      show(fmt::format("  scoring the {} set, {} of {}", name, done, examples.size()));
    });
    SetScore score = summarize(scores);
    if (set.text) score.exact_match = share_of_tokens(scores);
    return score;
  }

  void validate() {
    // Everything is scored before anything is written: an interruption leaves the files as they were.
    std::vector<std::pair<std::string, SetScore>> scores{
        {"validation", score("validation", data_.validation, validation_)}};
    if (!longer_.empty()) scores.emplace_back("longer", score("test", data_.test, longer_));
    const SetScore& found = scores.front().second;
    if (!std::isfinite(found.loss)) stop_not_finite("the validation loss is", state_.step);
    log_.validation(state_.step, scores);
    validation_accuracy_ = found.exact_match;
    state_.validated = state_.step;
    if (!is_best(found)) return;
    check_finite();
    state_.best_step = state_.step;
    write_weights(folder_.file("best.safetensors"), model_.parameters(), state_.step);
  }

  /// Also keeps it. Of a text the loss decides; elsewhere the study's rule holds: exact match rounded to four decimals,
  /// and a tie leaves the earlier checkpoint in place.
  bool is_best(const SetScore& found) {
    const auto rounded = static_cast<int64_t>(std::llround(found.exact_match * 1e4));
    const bool best = data_.text ? !state_.best_loss || found.loss < *state_.best_loss : rounded > state_.best_score;
    if (!best) return false;
    state_.best_score = rounded;
    if (data_.text) state_.best_loss = found.loss;
    return true;
  }

  void checkpoint() {
    const Clock::time_point began = Clock::now();
    check_finite();
    log_.note(state_);
    write_state(folder_.file("state.safetensors"), model_.parameters(), state_);
    pace_.wrote(began, Clock::now());
  }

  /// A step can make weights of a finite loss infinite; what is on disk is never of that kind.
  void check_finite() {
    const StepMetrics metrics = learner_->metrics();  // waits
    if (metrics.not_finite > 0) stop_not_finite("the loss is", metrics.not_finite);
    const std::shared_lock gate(device_gate());
    for (const at::Tensor& values : {model_.parameters().values(), state_.first, state_.second}) {
      if (!all_finite(values)) stop_not_finite("the weights are", state_.step);
    }
  }

  void show(const std::string& activity) {
    if (first_tokens_ < 0) first_tokens_ = state_.tokens;
    const double seconds = std::max(1e-9, state_.seconds - before_);
    const double speed = static_cast<double>(state_.tokens - first_tokens_) / seconds;
    const std::string accuracy =
        validation_accuracy_ < 0 ? std::string("-") : fmt::format("{:.3f}", validation_accuracy_);
    progress_.update(state_.step, config_.steps,
                     fmt::format("step {}/{}  loss {:.4f}  lr {:.2e}  {} tokens/s  validation {}{}", state_.step,
                                 config_.steps, metrics_of_step_.loss, metrics_of_step_.lr,
                                 format_count(state_.step > first_ + 1 ? speed : 0), accuracy, activity));
  }

  [[noreturn]] void stop_not_finite(const char* what, int64_t step) const {
    const std::string checkpoint =
        folder_.has_state() ? fmt::format("the last good state is {}", shown(folder_.file("state.safetensors")))
                            : std::string("no checkpoint was written yet");
    fail("{} no longer finite at step {}; {}; a lower --lr (now {}) or --clip, or --score-scale rsqrt, usually helps",
         what, step, checkpoint, config_.lr);
  }

  const TrainConfig& config_;
  const DataSet& data_;
  Model& model_;
  const RunFolder& folder_;
  Progress& progress_;
  std::vector<int64_t> validation_, longer_;
  TrainState state_;
  RunLog log_;
  std::unique_ptr<Learner> learner_;  ///< works on the state, and goes before it
  Clock::time_point started_;
  double before_ = 0;  ///< seconds spent by earlier processes
  int64_t first_ = 0;  ///< step that this process began at
  StepMetrics metrics_of_step_;
  WritePace pace_;  ///< of checkpoints
  double validation_accuracy_ = -1;
  int64_t first_tokens_ = -1;
};

}  // namespace

std::vector<int64_t> validation_subset(const TrainConfig& config, int64_t size) {
  const auto wanted = static_cast<int64_t>(std::ceil(config.validation_portion * static_cast<double>(size)));
  return drawn_examples(config.seed, "validation", size, wanted);
}

double train(const TrainConfig& config, const DataSet& data, Model& model, const RunFolder& folder, Progress& progress,
             const std::function<void(int64_t)>& after_step, const MakeLearner& make_learner) {
  Loop loop(config, data, model, folder, progress, make_learner);
  loop.run(after_step);
  return loop.seconds();
}

}  // namespace lengthwise
