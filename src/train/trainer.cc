#include "train/trainer.h"

#include <ATen/ATen.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/device_gate.h"
#include "core/error.h"
#include "infer/teacher_forcing.h"
#include "train/checkpoint.h"
#include "train/event_file.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// metrics.jsonl, one object a line.
class MetricsFile {
 public:
  explicit MetricsFile(const fs::path& path) : path_(path) {}

  void append(const nlohmann::ordered_json& line) {
    std::ofstream file(path_, std::ios::app);
    file << line.dump() << '\n';
    file.flush();
    if (!file) fail("cannot write {}: is the disk full?", path_.string());
  }

 private:
  fs::path path_;
};

int64_t bytes_of(const fs::path& path) {
  return fs::exists(path) ? static_cast<int64_t>(fs::file_size(path)) : 0;
}

/// Lines of steps after the checkpoint are written again by the steps that are repeated.
void cut_file(const fs::path& path, int64_t bytes) {
  if (bytes_of(path) > bytes) fs::resize_file(path, static_cast<uintmax_t>(bytes));
}

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

constexpr const char* kEventsName = "events.out.tfevents.lengthwise";

class Loop {
 public:
  Loop(const TrainConfig& config, const DataSet& data, Decoder& decoder, const RunFolder& folder, Progress& progress,
       const MakeLearner& make_learner)
      : config_(config),
        data_(data),
        decoder_(decoder),
        folder_(folder),
        progress_(progress),
        validation_(validation_subset(config, data.validation.size())),
        longer_(drawn_examples(config.seed, "longer", data.test.size(), config.watch_longer)),
        metrics_(folder.file("metrics.jsonl")) {
    {
      const std::shared_lock gate(device_gate());
      Parameters& parameters = decoder.parameters();
      if (folder.has_state()) {
        state_ = read_state(folder.file("state.safetensors"), parameters);
      } else {
        state_.first = at::zeros_like(parameters.values());
        state_.second = at::zeros_like(parameters.values());
      }
    }
    if (state_.step > 0) {
      progress.line(fmt::format("resuming {} after step {}", folder.path().string(), state_.step));
    }
    cut_file(folder.file("metrics.jsonl"), state_.metrics_bytes);
    cut_file(folder.file(kEventsName), state_.events_bytes);
    events_ = std::make_unique<EventFile>(folder.path());
    learner_ = make_learner(config, data.train, decoder, state_);
  }

  void run(const std::function<void(int64_t)>& after_step) {
    const double before = state_.seconds;
    const int64_t first = state_.step;
    started_ = Clock::now();
    while (state_.step < config_.steps) {
      train_step();
      state_.seconds = before + std::chrono::duration<double>(Clock::now() - started_).count();
      if (due(config_.validate_every)) validate();
      if (due(config_.checkpoint_every)) checkpoint();
      try {
        show(first, before);
      } catch (const Interrupted&) {
        checkpoint();
        throw;
      }
      if (after_step) after_step(state_.step);
    }
    write_weights(folder_.file("last.safetensors"), decoder_.parameters(), state_.step);
  }

  double seconds() const { return state_.seconds; }

 private:
  void train_step() {
    state_.tokens += learner_->step(state_.step);
    ++state_.step;
    const bool log = state_.step % log_every() == 0 || state_.step == 1;
    if (learner_->runs_ahead() && !log && !due(config_.validate_every) && !due(config_.checkpoint_every)) return;
    metrics_of_step_ = learner_->metrics();
    if (metrics_of_step_.not_finite > 0) stop_not_finite(metrics_of_step_.not_finite);
    if (!log) return;
    const StepMetrics& step = metrics_of_step_;
    metrics_.append(
        {{"step", state_.step}, {"loss", step.loss}, {"lr", step.lr}, {"gradient_norm", step.gradient_norm}});
    events_->scalar("train/loss", state_.step, step.loss);
    events_->scalar("train/lr", state_.step, step.lr);
    events_->scalar("train/gradient_norm", state_.step, step.gradient_norm);
  }

  bool due(int64_t every) const { return state_.step % every == 0 || state_.step == config_.steps; }
  int64_t log_every() const { return std::max<int64_t>(1, config_.steps / 400); }

  /// Scores examples and adds what was found to a line of the metrics and to the events.
  SetScore look_at(const std::string& name, const TokenSet& set, const std::vector<int64_t>& examples,
                   nlohmann::ordered_json& line) {
    const SetScore score = summarize(score_examples(learner_->scorer(), set, examples));
    line[name + "_loss"] = score.loss;
    line[name + "_exact_match"] = score.exact_match;
    events_->scalar(name + "/loss", state_.step, score.loss);
    events_->scalar(name + "/exact_match", state_.step, score.exact_match);
    return score;
  }

  void validate() {
    nlohmann::ordered_json line{{"step", state_.step}};
    const SetScore score = look_at("validation", data_.validation, validation_, line);
    validation_accuracy_ = score.exact_match;
    if (!longer_.empty()) look_at("longer", data_.test, longer_, line);
    metrics_.append(line);
    // The study's rule: rounded to four decimals, and a tie leaves the earlier checkpoint in place.
    const auto rounded = static_cast<int64_t>(std::llround(score.exact_match * 1e4));
    if (rounded <= state_.best_score) return;
    state_.best_score = rounded;
    state_.best_step = state_.step;
    write_weights(folder_.file("best.safetensors"), decoder_.parameters(), state_.step);
  }

  void checkpoint() {
    state_.metrics_bytes = bytes_of(folder_.file("metrics.jsonl"));
    state_.events_bytes = bytes_of(folder_.file(kEventsName));
    learner_->metrics();  // waits
    write_state(folder_.file("state.safetensors"), decoder_.parameters(), state_);
  }

  void show(int64_t first, double before) {
    if (progress_.quiet()) return;
    if (first_tokens_ < 0) first_tokens_ = state_.tokens;
    const double seconds = std::max(1e-9, state_.seconds - before);
    const double speed = static_cast<double>(state_.tokens - first_tokens_) / seconds;
    const std::string accuracy =
        validation_accuracy_ < 0 ? std::string("-") : fmt::format("{:.3f}", validation_accuracy_);
    progress_.update(state_.step, config_.steps,
                     fmt::format("step {}/{}  loss {:.4f}  lr {:.2e}  {} tokens/s  validation {}", state_.step,
                                 config_.steps, metrics_of_step_.loss, metrics_of_step_.lr,
                                 format_count(state_.step > first + 1 ? speed : 0), accuracy));
  }

  [[noreturn]] void stop_not_finite(int64_t step) const {
    const std::string checkpoint =
        folder_.has_state() ? fmt::format("the last good state is {}", folder_.file("state.safetensors").string())
                            : std::string("no checkpoint was written yet");
    fail(
        "the loss is no longer a finite number at step {}; {}; a lower --lr (now {}) or --clip, or --score-scale "
        "rsqrt, "
        "usually helps",
        step, checkpoint, config_.lr);
  }

  const TrainConfig& config_;
  const DataSet& data_;
  Decoder& decoder_;
  const RunFolder& folder_;
  Progress& progress_;
  std::unique_ptr<Learner> learner_;
  std::vector<int64_t> validation_, longer_;
  MetricsFile metrics_;
  std::unique_ptr<EventFile> events_;
  TrainState state_;
  Clock::time_point started_;
  StepMetrics metrics_of_step_;
  double validation_accuracy_ = -1;
  int64_t first_tokens_ = -1;
};

}  // namespace

std::vector<int64_t> validation_subset(const TrainConfig& config, int64_t size) {
  const auto wanted = static_cast<int64_t>(std::ceil(config.validation_portion * static_cast<double>(size)));
  return drawn_examples(config.seed, "validation", size, wanted);
}

void check_lengths(const Decoder& decoder, const DataSet& data, int64_t random_offset) {
  const auto longest_of = [](const TokenSet& set) {
    int64_t longest = 0;
    for (int64_t i = 0; i < set.size(); ++i)
      longest = std::max(longest, static_cast<int64_t>(set.sequence(i).size()) - 1);
    return longest;
  };
  const int64_t training = longest_of(data.train);
  const int64_t longest = std::max({training, longest_of(data.validation), longest_of(data.test)});
  const EncodingInfo& info = decoder.encoding().info();
  const std::optional<int64_t> limit = decoder.encoding().position_limit();
  if (limit && longest > *limit) {
    fail(
        "the encoding {} has {} positions, but a sequence has {} tokens; raise --max-positions or shorten "
        "--test-lengths",
        info.name, *limit, longest);
  }
  if (random_offset == 0) return;
  if (!info.absolute)
    fail("--random-offset means nothing to the encoding {}, which does not use absolute positions", info.name);
  if (random_offset < training) {
    fail("--random-offset {} is less than the {} tokens of the longest training sequence", random_offset, training);
  }
  if (limit && random_offset > *limit)
    fail("--random-offset {} is beyond the {} positions of the encoding", random_offset, *limit);
}

double train(const TrainConfig& config, const DataSet& data, Decoder& decoder, const RunFolder& folder,
             Progress& progress, const std::function<void(int64_t)>& after_step, const MakeLearner& make_learner) {
  if (data.train.size() == 0) fail("there are no training examples");
  if (data.validation.size() == 0)
    fail("there are no validation examples; without --dedup, or with a larger --validation-count, there would be");
  check_lengths(decoder, data, config.random_offset);
  Loop loop(config, data, decoder, folder, progress, make_learner);
  loop.run(after_step);
  return loop.seconds();
}

}  // namespace lengthwise
