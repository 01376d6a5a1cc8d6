#include <iostream>
#include <memory>

#include "cli/commands.h"
#include "cli/eval_text.h"
#include "cli/options.h"
#include "core/error.h"
#include "core/files.h"
#include "core/table.h"
#include "eval/engines.h"
#include "eval/run_results.h"
#include "eval/test_set.h"
#include "infer/teacher_forcing.h"
#include "runtime/settings.h"

namespace lengthwise {
namespace {

struct EvalOptions {
  std::string run;
  std::string weights = "best";
  TestSetOptions test;
  std::string contexts;
  int64_t stride = 0;
  int64_t tokens = 0;
  std::optional<Decoding> decode;
  std::string device = "auto";
  std::string precision;
  std::string encoding;
  int64_t threads = 0;
  bool json = false;
  bool quiet = false;

  template <class Visitor>
  void visit(Visitor&& field) {
    field("weights", weights, "best or last");
    field(
        "data", test.data,
        "score these examples: a folder with test.jsonl, or a JSONL file (docs/formats.md); for a run on text a folder "
        "of prepared text; by default the run's own test set");
    field("lengths", test.lengths, "LOW:HIGH of the examples; by default all of the test set's");
    field("count", test.count,
          "examples per length (bins of a length included); by default 500 of drawn --lengths, and all of a test set");
    field("contexts", contexts,
          "of a run on text: contexts to measure its test text at, as 128,256; by default the run's");
    field("stride", stride,
          "of a run on text: begin a window every so many tokens and score what is new; 0: windows without overlap");
    field("tokens", tokens, "of a run on text: so many of the test text, from its beginning; 0: as the run");
    field("data-seed", test.data_seed, "seed of drawn examples; by default the run's");
    field("decode", decode, "teacher-forcing, greedy-where-needed or greedy; by default what the run's data call for");
    field("device", device, "cpu, cuda, or auto: a GPU where there is one");
    field("precision", precision, "fp32, bf16, tf32 (GPU only) or auto; by default what the run was trained in");
    field(
        "encoding", encoding,
        "another encoding than the run was trained with, as 'yarn(factor=4)' for one with rope; what it learns must be "
        "among the run's weights");
    field("threads", threads, "CPU threads; 0: all cores");
    field("json", json, "one JSON object a line instead of a table");
    field("quiet", quiet, "no progress");
  }
};

void print_rows(const EvalOptions& options, const SetAccuracy& result) {
  for (const auto& [length, accuracy] : result.by_length) {
    std::cout << accuracy_json(options.weights, "test", length, "", accuracy) << '\n';
  }
  for (const auto& [category, accuracy] : result.by_category) {
    std::cout << accuracy_json(options.weights, "test", -1, category, accuracy) << '\n';
  }
}

void run(const EvalOptions& options) {
  check_threads(options.threads);
  Progress progress(options.quiet ? Progress::Mode::quiet : Progress::Mode::automatic);
  const LoadedRun loaded = load_run(options.run, options.weights, options.device, options.precision, options.encoding);
  if (!loaded.device_note.empty()) progress.line(loaded.device_note);
  set_threads(options.threads);
  const bool asks_text = !options.contexts.empty() || options.stride != 0 || options.tokens != 0;
  if (!loaded.config.data.text.empty()) {
    if (options.test.lengths || options.test.count || options.test.data_seed || options.decode)
      fail("{} is a run on text: it takes --contexts, --stride and --tokens", shown(options.run));
    return evaluate_text_run(loaded,
                             {.run = options.run,
                              .weights = options.weights,
                              .text = options.test.data,
                              .contexts = options.contexts,
                              .stride = options.stride,
                              .tokens = options.tokens,
                              .json = options.json},
                             progress);
  }
  if (asks_text) fail("--contexts, --stride and --tokens are for runs on text; {} is none", shown(options.run));
  TestSet test = make_test_set(loaded, options.test);
  if (options.decode) test.how.decoding = *options.decode;
  const std::unique_ptr<Scorer> scorer = make_scorer(*loaded.model, loaded.config.precision);
  const SetAccuracy result =
      evaluate(*loaded.model, *scorer, loaded.vocabulary, test.tokens, all_examples(test.tokens), test.how, progress);
  if (options.json) return print_rows(options, result);
  const TrainedLengths trained(options.run, loaded.config);
  Table table({"length", "trained on", "examples", "accuracy", "interval", "loss"});
  for (const auto& [length, accuracy] : result.by_length) {
    const Interval interval = wilson_interval(accuracy.correct, accuracy.count);
    table.add({std::to_string(length), trained.say(length), std::to_string(accuracy.count),
               fmt::format("{:.4f}", accuracy.share()), fmt::format("{:.3f}-{:.3f}", interval.low, interval.high),
               fmt::format("{:.4f}", accuracy.mean_loss())});
  }
  std::cout << fmt::format("{} weights of step {}, {}, {}\n", options.weights, loaded.step, to_text(test.how.decoding),
                           test.how.precision)
            << table.to_string();
}

}  // namespace

void add_eval_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("eval", "accuracy of a trained run by length, on its test set or any other");
  auto options = std::make_shared<EvalOptions>();
  command->add_option("RUN", options->run, "folder of a run")->required();
  add_options(*command, *options);
  command->callback([options] { run(*options); });
}

}  // namespace lengthwise
