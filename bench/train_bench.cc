// Speed of training and of the two ways to evaluate, and the data its Python peers train on.
//
//     train_bench --task sort --train-lengths 1:8 --layers 2 --width 128 --bench-steps 60 --export peer.safetensors
//     train_bench --text DIR --context 256 --contexts 256,2048 --layers 4 --width 128 --export peer.safetensors
//
// Prints one JSON object a line: {"name", "figure", "unit", "better"} and the loss after the timed steps. `--export`
// writes the token arrays, the order of the examples and the initial weights, so that bench/peers/decoder_peer.py
// starts from the same model and sees the same batches.
#include <ATen/ATen.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <barrier>
#include <chrono>
#include <future>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "arena/safetensors.h"
#include "batch/assemble.h"
#include "cli/options.h"
#include "core/error.h"
#include "data/data_set.h"
#include "data/text_windows.h"
#include "eval/engines.h"
#include "gpu/gpu.h"
#include "infer/teacher_forcing.h"
#include "runtime/settings.h"
#include "train/train_config.h"

namespace lengthwise {
namespace {

struct Options {
  TrainConfig config;
  int64_t warmup_steps = 20;
  int64_t bench_steps = 60;
  int64_t runs = 1;
  bool training_only = false;
  std::string out;

  template <class Visitor>
  void visit(Visitor&& field) {
    config.visit(field);
    field("untimed-steps", warmup_steps, "steps before the clock starts");
    field("bench-steps", bench_steps, "timed steps");
    field("runs", runs, "runs at once, each in a thread of its own");
    field("training-only", training_only, "no evaluation");
    field("export", out, "safetensors file for the peers");
  }
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void print(const std::string& name, double figure, const std::string& unit, const std::string& better) {
  std::cout << nlohmann::ordered_json{{"name", name}, {"figure", figure}, {"unit", unit}, {"better", better}}
            << std::endl;
}

/// Examples spread over the test set; of a text all of it.
std::vector<int64_t> test_examples(const TokenSet& set) {
  if (set.text) return all_examples(set);
  std::vector<int64_t> examples;
  for (int64_t i = 0; i < std::min<int64_t>(2000, set.size()); ++i)
    examples.push_back(i * set.size() / 2000 % set.size());
  return examples;
}

/// The test text in windows of so many tokens.
TokenSet windows_of(const TrainConfig& config, const DataSet& data, int64_t context) {
  return text_windows(data.text->stream(TextSplit::test), {.context = context,
                                                           .cross_documents = config.data.cross_documents,
                                                           .tokens = resolve(config.data).test_tokens()});
}

/// Sequences one behind the other, as tensors called `PREFIXtokens`, `PREFIXoffsets` and `PREFIXprompts`.
void add_sequences(const std::string& prefix, const TokenSet& set, std::span<const int64_t> examples,
                   TensorFile& file) {
  std::vector<int64_t> tokens, offsets{0}, prompts;
  for (const int64_t example : examples) {
    for (const int32_t token : set.sequence(example)) tokens.push_back(token);
    offsets.push_back(std::ssize(tokens));
    prompts.push_back(set.prompt_tokens[static_cast<size_t>(example)]);
  }
  file.tensors.emplace_back(prefix + "tokens", at::tensor(tokens, at::kLong));
  file.tensors.emplace_back(prefix + "offsets", at::tensor(offsets, at::kLong));
  file.tensors.emplace_back(prefix + "prompts", at::tensor(prompts, at::kLong));
}

void export_for_peers(const Options& options, const TrainConfig& config, const DataSet& data, EpochOrder& order) {
  std::vector<int64_t> examples;
  for (int64_t step = 0; step < options.warmup_steps + options.bench_steps; ++step) {
    for (const int64_t example : order.examples_of(step)) examples.push_back(example);
  }
  TensorFile file;
  file.tensors.emplace_back("order", at::tensor(examples, at::kLong));
  add_sequences("", data.train, all_examples(data.train), file);
  const TokenSet test = data.text ? windows_of(config, data, resolve(config.data).contexts.back()) : data.test;
  add_sequences("test_", test, test_examples(test), file);
  const std::unique_ptr<Decoder> decoder = make_decoder(config.model, config.seed, "cpu");
  for (const Parameter& parameter : decoder->parameters().all()) {
    file.tensors.emplace_back("initial." + parameter.name, parameter.value.detach());
  }
  write_safetensors(options.out, file);
}

/// One run in a thread of its own.
class Runner {
 public:
  Runner(const TrainConfig& config, const TokenSet& examples) : config_(config) {
    decoder_ = make_decoder(config.model, config.seed, config.device);
    state_.first = at::zeros_like(decoder_->parameters().values());
    state_.second = at::zeros_like(decoder_->parameters().values());
    learner_ = make_learner(config_, examples, *decoder_, state_);
  }

  /// Tokens trained on.
  int64_t take(int64_t first, int64_t steps) {
    int64_t tokens = 0;
    const auto start = std::chrono::steady_clock::now();
    for (int64_t step = first; step < first + steps; ++step) tokens += learner_->step(step);
    launching_ = seconds_since(start) / static_cast<double>(steps);
    loss_ = learner_->metrics().loss;
    return tokens;
  }

  double loss() const { return loss_; }
  double launching() const { return launching_; }  ///< seconds the host needs to send off a step
  Decoder& decoder() { return *decoder_; }

 private:
  TrainConfig config_;
  std::unique_ptr<Decoder> decoder_;
  TrainState state_;
  std::unique_ptr<Learner> learner_;
  double loss_ = 0;
  double launching_ = 0;
};

void measure_training(const Options& options, const TrainConfig& config, const DataSet& data,
                      const std::string& shape) {
  std::vector<std::thread> threads;
  std::barrier ready(options.runs + 1);
  std::atomic<int64_t> tokens = 0;
  double launching = 0;
  std::vector<double> losses(static_cast<size_t>(options.runs));
  for (int64_t run = 0; run < options.runs; ++run) {
    threads.emplace_back([&, run] {
      set_threads(config.threads);
      TrainConfig own = config;
      own.seed += run;
      Runner runner(own, data.train);
      runner.take(0, options.warmup_steps);
      ready.arrive_and_wait();
      tokens += runner.take(options.warmup_steps, options.bench_steps);
      losses[static_cast<size_t>(run)] = runner.loss();
      if (run == 0) launching = runner.launching();
    });
  }
  ready.arrive_and_wait();
  const auto start = std::chrono::steady_clock::now();
  for (std::thread& thread : threads) thread.join();
  const double seconds = seconds_since(start);
  print("training " + shape, static_cast<double>(tokens) / seconds, "real tokens/s", "higher");
  print("loss after the same steps " + shape, losses.front(), "nats", "lower");

  if (config.device == "cuda") {
    print("GPU memory of " + shape, static_cast<double>(gpu_peak_bytes()) / (1 << 30), "GiB", "lower");
  }
  print("sending off a step of " + shape, 1e3 * launching, "ms", "lower");
  print("a step of " + shape, 1e3 * seconds / static_cast<double>(options.bench_steps * options.runs), "ms", "lower");
}

void measure_evaluation(const TrainConfig& config, const DataSet& data, const std::string& shape) {
  const std::unique_ptr<Decoder> decoder = make_decoder(config.model, config.seed, config.device);
  const std::unique_ptr<Scorer> scorer = make_scorer(*decoder, config.precision);
  const std::vector<int64_t> examples = test_examples(data.test);
  score_examples(*scorer, data.test, std::span(examples).first(std::min<size_t>(examples.size(), 200)));
  auto start = std::chrono::steady_clock::now();
  score_examples(*scorer, data.test, examples);
  const double forced = static_cast<double>(examples.size()) / seconds_since(start);
  print("teacher forcing " + shape, forced, "examples/s", "higher");
  // Generation stops where the gold answer does, so that both do the same work for a model that has learnt its task.
  std::vector<std::vector<int32_t>> prompts;
  int64_t longest = 0;
  for (size_t i = 0; i < examples.size(); i += 10) {
    const auto prompt = data.test.prompt(examples[i]);
    prompts.emplace_back(prompt.begin(), prompt.end());
    longest = std::max(longest, static_cast<int64_t>(data.test.sequence(examples[i]).size()));
  }
  start = std::chrono::steady_clock::now();
  generate_answers(*decoder, prompts, {.max_total_tokens = longest, .precision = config.precision});
  const double generated = static_cast<double>(prompts.size()) / seconds_since(start);
  print("generation " + shape, generated, "examples/s", "higher");
  print("teacher forcing over generation " + shape, forced / generated, "times", "higher");
}

/// Perplexity of a text, by context.
void measure_reading(const TrainConfig& config, const DataSet& data, const std::string& shape) {
  const std::unique_ptr<Decoder> decoder = make_decoder(config.model, config.seed, config.device);
  const std::unique_ptr<Scorer> scorer = make_scorer(*decoder, config.precision);
  for (const int64_t context : resolve(config.data).contexts) {
    const TokenSet windows = windows_of(config, data, context);
    const std::vector<int64_t> examples = all_examples(windows);
    score_examples(*scorer, windows, std::span(examples).first(1));
    const auto start = std::chrono::steady_clock::now();
    int64_t tokens = 0;
    for (const ExampleScore& score : score_examples(*scorer, windows, examples)) tokens += score.targets;
    print(fmt::format("reading windows of {}, {}", context, shape), static_cast<double>(tokens) / seconds_since(start),
          "tokens/s", "higher");
  }
  if (config.device == "cuda")
    print("GPU memory of reading " + shape, static_cast<double>(gpu_peak_bytes()) / (1 << 30), "GiB", "lower");
}

void run(const Options& options) {
  const DataSet data = build_data_set(options.config.data, 1);
  TrainConfig config = options.config;
  config.device = device_here(config.device);
  config.precision = precision_here(config.precision, config.device);
  config = resolve(config, data.vocabulary.size());
  // As the peers: a constant rate, and the betas of the paper.
  config.warmup = 0;
  config.lr_end = config.lr;
  config.beta2 = 0.999;
  EpochOrder order(data.train.size(), config.batch_size, static_cast<uint64_t>(config.seed));
  if (!options.out.empty()) {
    // In a thread that ends: OpenMP lets threads wait asleep, which costs training 7 %, while it keeps more of them
    // than there are cores.
    std::async(std::launch::async, [&] { export_for_peers(options, config, data, order); }).get();
  }
  const std::string subject =
      data.text ? fmt::format("text {} x {}", config.batch_size, config.data.context) : config.data.task;
  std::string shape = fmt::format("{} {}x{} {} {}", subject, config.model.layers, config.model.width,
                                  config.model.encoding, config.precision);
  if (options.runs > 1) shape += fmt::format(", {} runs at once", options.runs);
  measure_training(options, config, data, shape);
  if (options.runs > 1 || options.training_only) return;
  set_threads(config.threads);
  if (data.text) {
    measure_reading(config, data, shape);
  } else {
    measure_evaluation(config, data, shape);
  }
}

}  // namespace
}  // namespace lengthwise

int main(int argc, char** argv) {
  lengthwise::Options options;
  CLI::App app("Speed of training and evaluation");
  lengthwise::add_options(app, options);
  try {
    app.parse(argc, argv);
    lengthwise::run(options);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const lengthwise::UserError& error) {
    std::cerr << "train_bench: " << error.what() << '\n';
    return 2;
  }
}
