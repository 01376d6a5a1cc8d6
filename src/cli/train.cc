#include <cmath>
#include <filesystem>
#include <iostream>
#include <memory>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/readings_tables.h"
#include "cli/stop_signals.h"
#include "core/error.h"
#include "core/files.h"
#include "core/table.h"
#include "core/text.h"
#include "data/remarks.h"
#include "eval/answered_examples.h"
#include "eval/execute_run.h"
#include "train/quick.h"

namespace lengthwise {
namespace {

struct TrainOptions {
  TrainConfig config;
  std::string out;
  bool quick = false;
  bool quiet = false;
  std::string quick_help = fmt::format(
      "for a try, where not given otherwise: {} steps, {} training examples at most, {} test examples a length",
      kQuickSteps, kQuickTraining, kQuickTestPerLength);

  template <class Visitor>
  void visit(Visitor&& field) {
    config.visit(field);
    field("out", out, "folder of the run; an unfinished run there is resumed");
    field("quick", quick, quick_help.c_str());
    field("quiet", quiet, "no configuration, no progress");
  }
};

void print_configuration(const TrainConfig& config) {
  Table table({"option", "value"});
  const_cast<TrainConfig&>(config).visit([&](const char* name, const auto& value, const char*) {
    table.add({name, to_text(value)});
  });
  std::cout << table.to_string() << '\n';
}

void warn(const std::string& text) {
  std::cerr << "warning: " << text << '\n';
}

void warn_of_lengths(const DataSet& data) {
  if (data.text) {
    if (data.test.size() == 0) warn("there is no test text, and so no perplexity by context");
    return;
  }
  const int64_t limit = longest_length(data.train);
  const auto inside =
      std::count_if(data.test.length.begin(), data.test.length.end(), [&](int32_t length) { return length <= limit; });
  if (data.test.size() == 0) {
    warn("there are no test examples, and so no accuracy on longer lengths");
  } else if (inside == data.test.size()) {
    warn(
        fmt::format("no test example is longer than those of training (up to length {}), so that there will be no "
                    "accuracy on longer lengths",
                    limit));
  } else if (inside > 0) {
    warn(
        fmt::format("{} of the {} test examples are no longer than those of training (up to length {}); only the "
                    "others count as longer",
                    inside, data.test.size(), limit));
  }
}

void print_text_results(const std::vector<SelectionResult>& results) {
  Table table({"weights", "step", "text", "context", "tokens", "right", "nats per token", "perplexity"});
  for (const SelectionResult& result : results) {
    const auto add = [&](const char* text, int64_t context, const Accuracy& accuracy) {
      table.add({result.selection, std::to_string(result.step), text, std::to_string(context),
                 std::to_string(accuracy.count), fmt::format("{:.4f}", accuracy.share()),
                 fmt::format("{:.4f}", accuracy.mean_loss()), fmt::format("{:.3f}", std::exp(accuracy.mean_loss()))});
    };
    for (const auto& [context, accuracy] : result.validation.by_length) add("validation", context, accuracy);
    for (const auto& [context, accuracy] : result.test.by_length) add("test", context, accuracy);
  }
  std::cout << table.to_string()
            << "windows without overlap; perplexity.json has bits per byte, the loss by position, and the protocol\n";
}

void print_results(const std::vector<SelectionResult>& results) {
  Table table({"weights", "step", "length", "examples", "accuracy", "interval", "loss"});
  for (const SelectionResult& result : results) {
    const auto add = [&](const std::string& length, const Accuracy& accuracy) {
      const Interval interval = wilson_interval(accuracy.correct, accuracy.count);
      table.add({result.selection, std::to_string(result.step), length, std::to_string(accuracy.count),
                 fmt::format("{:.4f}", accuracy.share()), fmt::format("{:.3f}-{:.3f}", interval.low, interval.high),
                 fmt::format("{:.4f}", accuracy.mean_loss())});
    };
    for (const auto& [length, accuracy] : result.validation.by_length) add(std::to_string(length), accuracy);
    add("in distribution", result.validation.all);
    for (const auto& [length, accuracy] : result.test.by_length) add(std::to_string(length), accuracy);
    // The whole test set is a number of its own only where not all of it is longer.
    if (result.test.all.count > result.longer.count) add("test set", result.test.all);
    if (result.longer.count > 0) add("longer", result.longer);
  }
  std::cout << table.to_string();
}

[[noreturn]] void say_stopped(const PreparedRun& run, const std::string& out, int64_t step) {
  const bool trained = is_there(std::filesystem::path(out) / "last.safetensors");
  std::cerr << (trained ? std::string("stopped while evaluating; the training is done")
                        : fmt::format("stopped after step {} of {}, which is saved", step, run.config.steps))
            << "; the same command goes on from here\n";
  throw Exit{stop_status()};
}

void run(const TrainOptions& options) {
  if (options.out.empty()) fail("--out DIR is needed: the folder of the run");
  const PreparedRun prepared = prepare_run(options.quick ? make_quick(options.config) : options.config);
  if (!options.quiet) print_configuration(prepared.config);
  warn_of_lengths(*prepared.data);
  for (const std::string& line : remarks(prepared.config.data, *prepared.data)) warn(line);
  std::vector<SelectionResult> results;
  std::optional<int64_t> stopped;
  {
    StoppableProgress progress(options.quiet ? Progress::Mode::quiet : Progress::Mode::automatic);
    catch_stop_signals();
    try {
      results = execute_run(prepared, options.out, progress);
    } catch (const Interrupted&) {
      stopped = progress.done();
    }
  }
  if (stopped) say_stopped(prepared, options.out, *stopped);
  prepared.data->text ? print_text_results(results) : print_results(results);
  if (prepared.config.measure_with.empty()) return;
  const std::string readings = run_readings(options.out);
  if (!readings.empty()) std::cout << "\nthe best weights, read with other encodings than in training\n" << readings;
}

}  // namespace

void add_train_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("train", "train one model and evaluate it by length");
  auto options = std::make_shared<TrainOptions>();
  add_options(*command, *options);
  add_config_file(*command, *options);
  command->callback([options] { run(*options); });
}

}  // namespace lengthwise
