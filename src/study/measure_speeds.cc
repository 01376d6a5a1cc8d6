#include "study/measure_speeds.h"

#include <ATen/ATen.h>

#include <chrono>

#include "eval/engines.h"
#include "eval/execute_run.h"
#include "infer/teacher_forcing.h"
#include "runtime/settings.h"

namespace lengthwise {
namespace {

using Clock = std::chrono::steady_clock;

/// Multiplications and additions that one measurement may take at a time: about a second on one core.
constexpr double kOperations = 1e11;

double seconds_of(const std::function<void()>& body) {
  const auto start = Clock::now();
  body();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The fastest of three, or of fewer when one takes long: what else the machine does only ever slows down.
double best_seconds(const std::function<void()>& body) {
  constexpr double kLong = 0.7;
  double best = seconds_of(body);
  for (int i = 0; i < 2 && best < kLong; ++i) best = std::min(best, seconds_of(body));
  return best;
}

double tokens_per_example(const TokenSet& set) {
  if (set.size() == 0) return 0;
  if (!set.text) return static_cast<double>(set.tokens.size()) / static_cast<double>(set.size());
  double tokens = 0;
  for (const int32_t window : set.window_tokens) tokens += window - 1;
  return tokens / static_cast<double>(set.size());
}

/// Examples spread over the whole set, at most `count`.
std::vector<int64_t> spread(const TokenSet& set, int64_t count) {
  std::vector<int64_t> examples;
  const int64_t kept = std::min(count, set.size());
  for (int64_t i = 0; i < kept; ++i) examples.push_back(i * set.size() / kept);
  return examples;
}

double tokens_of(const TokenSet& set, const std::vector<int64_t>& examples) {
  double tokens = 0;
  for (const int64_t example : examples) tokens += static_cast<double>(set.sequence(example).size());
  return tokens;
}

class Measurement {
 public:
  /// The model is the configuration's; its numbers do not matter.
  Measurement(const TrainConfig& config, Model& model)
      : run_(prepare_run(with_few_examples(config))),
        model_(model),
        scorer_(make_scorer(model, run_.config.precision)) {}

  Speeds measure() {
    const DataSet& data = *run_.data;
    Speeds speeds;
    speeds.train_tokens = tokens_per_example(data.train);
    speeds.validation_tokens = tokens_per_example(data.validation);
    speeds.test_tokens = tokens_per_example(data.test);
    if (!is_drawn(run_.config.data)) {
      speeds.validation_size = data.validation.size();
      speeds.test_size = data.test.size();
    }
    measure_training(speeds);
    measure_scoring(speeds);
    if (default_evaluation(run_.resolved).decoding != Decoding::teacher_forcing) measure_generation(speeds);
    return speeds;
  }

 private:
  /// How many of `count` examples of this many tokens are affordable, at `operations` per token and parameter.
  int64_t affordable(int64_t count, double tokens, double operations) const {
    const double each = operations * static_cast<double>(model_.parameters().count()) * std::max(1.0, tokens);
    return std::clamp(static_cast<int64_t>(kOperations / each), int64_t{2}, std::max<int64_t>(2, count));
  }

  double step_seconds(int64_t count) {
    TrainConfig config = run_.config;
    config.batch_size = count;
    TrainState state;
    state.first = at::zeros_like(model_.parameters().values());
    state.second = at::zeros_like(model_.parameters().values());
    const std::unique_ptr<Learner> learner = make_learner(config, run_.data->train, model_, state);
    int64_t step = 0;
    const auto take = [&](int64_t steps) {
      for (int64_t i = 0; i < steps; ++i) learner->step(step++);
      learner->metrics();
    };
    // A learner that runs ahead prepares itself during the first steps, and is measured over several.
    take(learner->runs_ahead() ? 20 : 1);
    const int64_t steps = learner->runs_ahead() ? 50 : 1;
    return best_seconds([&] { take(steps); }) / static_cast<double>(steps);
  }

  void measure_training(Speeds& speeds) {
    constexpr double kOperationsPerToken = 6;
    const TrainConfig& config = run_.config;
    const int64_t count = affordable(config.batch_size, speeds.train_tokens, kOperationsPerToken);
    speeds.step = step_seconds(count);
    if (count < config.batch_size) {
      // Part of the time is the same for any batch (every weight is read once), so what is missing costs less than its
      // share.
      const int64_t fewer = std::max<int64_t>(1, count / 4);
      const double share = speeds.step / static_cast<double>(count);
      const double slope = (speeds.step - step_seconds(fewer)) / static_cast<double>(count - fewer);
      speeds.step += std::clamp(slope, share / 4, share) * static_cast<double>(config.batch_size - count);
    }
  }

  void measure_scoring(Speeds& speeds) {
    constexpr double kOperationsPerToken = 2;
    const TokenSet& set = run_.data->test.size() > 0 ? run_.data->test : run_.data->validation;
    const int64_t count = affordable(500, tokens_per_example(set), kOperationsPerToken);
    const std::vector<int64_t> examples = spread(set, count);
    const auto score = [&] { score_examples(*scorer_, set, examples); };
    score();
    speeds.forward = best_seconds(score) / std::max(1.0, tokens_of(set, examples));
  }

  /// A few tokens of each of a few examples, scaled to whole answers.
  void measure_generation(Speeds& speeds) {
    constexpr int64_t kTokens = 8;
    constexpr int64_t kMost = 64;
    const TokenSet& set = run_.data->test;
    const std::vector<int64_t> examples = spread(set, affordable(kMost, kTokens, 2));
    std::vector<std::vector<int32_t>> prompts;
    int64_t longest = 0;
    double targets = 0;
    for (const int64_t example : examples) {
      const auto prompt = set.prompt(example);
      prompts.emplace_back(prompt.begin(), prompt.end());
      longest = std::max(longest, static_cast<int64_t>(prompt.size()));
      targets += static_cast<double>(set.target(example).size());
    }
    const double seconds = best_seconds([&] {
      generate_answers(model_, prompts, {.max_total_tokens = longest + kTokens, .precision = run_.config.precision});
    });
    const auto count = static_cast<double>(examples.size());
    speeds.generation = seconds / count / static_cast<double>(kTokens) * targets / count;
  }

  PreparedRun run_;
  Model& model_;
  std::unique_ptr<Scorer> scorer_;
};

}  // namespace

bool is_drawn(const DataConfig& data) {
  return data.data.empty() && data.corpus.empty() && data.text.empty();
}

TrainConfig with_few_examples(const TrainConfig& config) {
  TrainConfig few = config;
  if (!is_drawn(config.data)) return few;
  few.data.train_count = std::min<int64_t>(config.data.train_count.value_or(4000), 4000);
  few.data.test_count = std::min<int64_t>(config.data.test_count.value_or(1000), 1000);
  few.data.validation_count.reset();
  return few;
}

Speeds Bench::measure(const TrainConfig& config, int64_t threads) {
  set_threads(threads);
  Json model = Json::object();
  add_to_json(config.model, model);
  model["device"] = config.device;
  if (!network_ || model != model_) {
    network_.reset();
    network_ = make_model(config.model, config.seed, config.device);
    model_ = std::move(model);
  }
  return Measurement(config, *network_).measure();
}

}  // namespace lengthwise
