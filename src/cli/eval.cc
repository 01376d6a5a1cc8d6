#include <iostream>
#include <memory>

#include "cli/commands.h"
#include "cli/options.h"
#include "core/error.h"
#include "core/table.h"
#include "eval/engines.h"
#include "eval/load_run.h"
#include "eval/run_results.h"
#include "infer/teacher_forcing.h"
#include "runtime/settings.h"
#include "train/trainer.h"

namespace lengthwise {
namespace {

struct EvalOptions {
  std::string run;
  std::string weights = "best";
  std::optional<LengthRange> lengths;
  int64_t count = 500;
  std::optional<int64_t> data_seed;
  std::optional<Decoding> decode;
  std::string device = "auto";
  std::string precision;
  int64_t threads = 0;
  bool json = false;
  bool quiet = false;

  template <class Visitor>
  void visit(Visitor&& field) {
    field("weights", weights, "best or last");
    field("lengths", lengths, "LOW:HIGH of the examples; by default the run's own test lengths");
    field("count", count, "examples per length (bins of a length included)");
    field("data-seed", data_seed, "seed of the examples; by default the run's");
    field("decode", decode, "teacher-forcing, greedy-where-needed or greedy; by default what the run's data call for");
    field("device", device, "cpu, cuda, or auto: a GPU where there is one");
    field("precision", precision, "fp32, bf16, tf32 (GPU only) or auto; by default what the run was trained in");
    field("threads", threads, "CPU threads; 0: all cores");
    field("json", json, "one JSON object a line instead of a table");
    field("quiet", quiet, "no progress");
  }
};

void run(const EvalOptions& options) {
  if (options.count < 1) fail("--count must be positive, not {}", options.count);
  Progress progress(options.quiet ? Progress::Mode::quiet : Progress::Mode::automatic);
  const LoadedRun loaded = load_run(options.run, options.weights, options.device, options.precision);
  if (!loaded.device_note.empty()) progress.line(loaded.device_note);
  set_threads(options.threads);
  DataConfig wanted = loaded.config.data;
  if (options.lengths) {
    wanted.test_lengths = options.lengths;
    if (wanted.data.empty()) wanted.test_count = options.count * options.lengths->size();
  }
  if (options.data_seed) wanted.data_seed = *options.data_seed;
  const ResolvedData resolved = resolve(wanted);
  const std::unique_ptr<ExampleSource> source = make_source(resolved);
  const TokenSet test = build_token_set(*source, Split::test, loaded.vocabulary, frame_of(wanted));
  if (test.size() == 0) fail("the run's data have no examples of these lengths");
  if (const auto limit = loaded.decoder->encoding().position_limit()) {
    for (int64_t i = 0; i < test.size(); ++i) {
      if (static_cast<int64_t>(test.sequence(i).size()) - 1 > *limit) {
        fail("the encoding {} has {} positions, but an example of length {} has {} tokens; shorten --lengths",
             loaded.decoder->encoding().info().name, *limit, test.length[static_cast<size_t>(i)],
             test.sequence(i).size() - 1);
      }
    }
  }
  EvaluationOptions how = default_evaluation(resolved);
  if (options.decode) how.decoding = *options.decode;
  how.precision = loaded.config.precision;
  const std::unique_ptr<Scorer> scorer = make_scorer(*loaded.decoder, loaded.config.precision);
  const SetAccuracy result =
      evaluate(*loaded.decoder, *scorer, loaded.vocabulary, test, all_examples(test), how, progress);
  if (options.json) {
    for (const auto& [length, accuracy] : result.by_length) {
      std::cout << accuracy_json(options.weights, "test", length, "", accuracy) << '\n';
    }
    for (const auto& [category, accuracy] : result.by_category) {
      std::cout << accuracy_json(options.weights, "test", -1, category, accuracy) << '\n';
    }
    return;
  }
  Table table({"length", "trained on", "examples", "accuracy", "interval", "loss"});
  for (const auto& [length, accuracy] : result.by_length) {
    const Interval interval = wilson_interval(accuracy.correct, accuracy.count);
    const bool seen = loaded.config.data.train_lengths && loaded.config.data.train_lengths->contains(length);
    table.add({std::to_string(length), seen ? "yes" : "no", std::to_string(accuracy.count),
               fmt::format("{:.4f}", accuracy.share()), fmt::format("{:.3f}-{:.3f}", interval.low, interval.high),
               fmt::format("{:.4f}", accuracy.mean_loss())});
  }
  std::cout << fmt::format("{} weights of step {}, {}, {}\n", options.weights, loaded.step, to_text(how.decoding),
                           how.precision)
            << table.to_string();
}

}  // namespace

void add_eval_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("eval", "accuracy of a trained run by length");
  auto options = std::make_shared<EvalOptions>();
  command->add_option("RUN", options->run, "folder of a run")->required();
  add_options(*command, *options);
  command->callback([options] { run(*options); });
}

}  // namespace lengthwise
