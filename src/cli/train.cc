#include <iostream>
#include <memory>

#include "cli/commands.h"
#include "cli/options.h"
#include "core/error.h"
#include "core/table.h"
#include "eval/execute_run.h"

namespace lengthwise {
namespace {

struct TrainOptions {
  TrainConfig config;
  std::string out;
  bool quiet = false;

  template <class Visitor>
  void visit(Visitor&& field) {
    config.visit(field);
    field("out", out, "folder of the run; an unfinished run there is resumed");
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

void run(const TrainOptions& options) {
  if (options.out.empty()) fail("--out DIR is needed: the folder of the run");
  Progress progress(options.quiet ? Progress::Mode::quiet : Progress::Mode::automatic);
  const PreparedRun prepared = prepare_run(options.config);
  if (!options.quiet) print_configuration(prepared.config);
  const std::vector<SelectionResult> results = execute_run(prepared, options.out, progress);
  Table table({"weights", "step", "length", "examples", "accuracy", "interval", "loss"});
  for (const SelectionResult& result : results) {
    for (const SetAccuracy* set : {&result.validation, &result.test}) {
      const auto add = [&](const std::string& length, const Accuracy& accuracy) {
        const Interval interval = wilson_interval(accuracy.correct, accuracy.count);
        table.add({result.selection, std::to_string(result.step), length, std::to_string(accuracy.count),
                   fmt::format("{:.4f}", accuracy.share()), fmt::format("{:.3f}-{:.3f}", interval.low, interval.high),
                   fmt::format("{:.4f}", accuracy.mean_loss())});
      };
      for (const auto& [length, accuracy] : set->by_length) add(std::to_string(length), accuracy);
      add(set == &result.validation ? "in distribution" : "longer", set->all);
    }
  }
  std::cout << table.to_string();
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
