// Speed of training and of the two ways to evaluate, and the data its Python peers train on.
//
//     train_bench --task sort --train-lengths 1:8 --layers 2 --width 128 --bench-steps 60 --export peer.safetensors
//
// Prints one JSON object a line: {"name", "figure", "unit", "better"} and the loss after the timed steps. `--export`
// writes the token arrays and the order of the examples, so that bench/peers/decoder_peer.py sees the same batches.
#include <ATen/ATen.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "arena/safetensors.h"
#include "batch/assemble.h"
#include "cli/options.h"
#include "core/error.h"
#include "data/data_set.h"
#include "infer/greedy.h"
#include "infer/teacher_forcing.h"
#include "kernels/adamw.h"
#include "runtime/settings.h"
#include "train/train_config.h"

namespace lengthwise {
namespace {

struct Options {
  TrainConfig config;
  int64_t warmup_steps = 20;
  int64_t bench_steps = 60;
  std::string out;

  template <class Visitor>
  void visit(Visitor&& field) {
    config.visit(field);
    field("untimed-steps", warmup_steps, "steps before the clock starts");
    field("bench-steps", bench_steps, "timed steps");
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

/// Examples spread over the test set.
std::vector<int64_t> test_examples(const TokenSet& set) {
  std::vector<int64_t> examples;
  for (int64_t i = 0; i < std::min<int64_t>(2000, set.size()); ++i)
    examples.push_back(i * set.size() / 2000 % set.size());
  return examples;
}

void export_batches(const Options& options, const TokenSet& set, const TokenSet& test, EpochOrder& order) {
  std::vector<int64_t> examples;
  for (int64_t step = 0; step < options.warmup_steps + options.bench_steps; ++step) {
    for (const int64_t example : order.examples_of(step)) examples.push_back(example);
  }
  const auto as_tensor = [](const auto& values) { return at::tensor(values, at::kLong); };
  std::vector<int64_t> tokens(set.tokens.begin(), set.tokens.end());
  std::vector<int64_t> prompts(set.prompt_tokens.begin(), set.prompt_tokens.end());
  std::vector<int64_t> test_tokens, test_offsets{0}, test_prompts;
  for (const int64_t example : test_examples(test)) {
    const std::span<const int32_t> sequence = test.sequence(example);
    test_tokens.insert(test_tokens.end(), sequence.begin(), sequence.end());
    test_offsets.push_back(static_cast<int64_t>(test_tokens.size()));
    test_prompts.push_back(test.prompt_tokens[static_cast<size_t>(example)]);
  }
  TensorFile file;
  file.tensors = {{"tokens", as_tensor(tokens)},
                  {"offsets", as_tensor(set.offsets)},
                  {"prompts", as_tensor(prompts)},
                  {"order", as_tensor(examples)},
                  {"test_tokens", as_tensor(test_tokens)},
                  {"test_offsets", as_tensor(test_offsets)},
                  {"test_prompts", as_tensor(test_prompts)}};
  write_safetensors(options.out, file);
}

void run(const Options& options) {
  const DataSet data = build_data_set(options.config.data, 1);
  const TrainConfig config = resolve(options.config, data.vocabulary.size());
  set_threads(config.threads);
  EpochOrder order(data.train.size(), config.batch_size, static_cast<uint64_t>(config.seed));
  if (!options.out.empty()) export_batches(options, data.train, data.test, order);

  Decoder decoder(config.model, static_cast<uint64_t>(config.seed));
  CpuEngine engine(decoder, arithmetic_of(config.precision));
  Parameters& parameters = decoder.parameters();
  at::Tensor values = parameters.values(), gradients = parameters.gradients();
  at::Tensor first = at::zeros_like(values), second = at::zeros_like(values);
  int64_t tokens = 0;
  double loss = 0;
  auto start = std::chrono::steady_clock::now();
  for (int64_t step = 0; step < options.warmup_steps + options.bench_steps; ++step) {
    if (step == options.warmup_steps) {
      start = std::chrono::steady_clock::now();
      tokens = 0;
    }
    const Batch batch = make_batch(data.train, order.examples_of(step));
    const StepDropout dropout{config.model.dropout, static_cast<uint64_t>(step)};
    const TargetScores scores =
        engine.accumulate_gradients(batch, dropout, 1.0 / static_cast<double>(batch.target_count()));
    loss = scores.losses.mean().item<double>();
    const double norm = arena_norm(gradients);
    adamw_update(values, gradients, first, second, parameters.decayed(),
                 {.step = step + 1,
                  .lr = config.lr,
                  .weight_decay = config.weight_decay,
                  .gradient_scale = norm > 1 ? 1 / norm : 1});
    tokens += batch.token_count();
  }
  const std::string shape = fmt::format("{} {}x{} {} {}", config.data.task, config.model.layers, config.model.width,
                                        config.model.encoding, config.precision);
  print("training " + shape, static_cast<double>(tokens) / seconds_since(start), "real tokens/s", "higher");
  print("loss after the same steps " + shape, loss, "nats", "lower");

  const std::vector<int64_t> examples = test_examples(data.test);
  start = std::chrono::steady_clock::now();
  score_examples(engine, data.test, examples);
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
  generate_greedy(decoder, prompts, {.max_total_tokens = longest});
  const double generated = static_cast<double>(prompts.size()) / seconds_since(start);
  print("generation " + shape, generated, "examples/s", "higher");
  print("teacher forcing over generation " + shape, forced / generated, "times", "higher");
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
