#include <iostream>
#include <memory>

#include "analysis/analysis.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "core/error.h"
#include "core/json.h"
#include "runtime/settings.h"

namespace lengthwise {
namespace {

/// One command: the analysis, what every analysis can be told, and what this one can.
struct AnalysisCommand {
  const AnalysisEntry& entry;
  std::unique_ptr<Analysis> analysis;
  AnalysisOptions common;
  std::vector<std::string> runs = {};
  bool save = true;
  bool json = false;
  bool quiet = false;

  /// What decides the result.
  template <class Visitor>
  void visit_deciding(Visitor&& field) {
    common.visit(field);
    analysis->visit_options([&](const char* name, OptionValue value, const char* help) {
      std::visit([&](auto* kept) { field(name, *kept, help); }, value);
    });
  }

  template <class Visitor>
  void visit(Visitor&& field) {
    visit_deciding(field);
    field("save", save, "leave the table and the summary in RUN/analysis");
    field("json", json, "one JSON object a run instead of tables");
    field("quiet", quiet, "no progress");
  }
};

struct Deciding {
  AnalysisCommand& command;
  template <class Visitor>
  void visit(Visitor&& field) {
    command.visit_deciding(field);
  }
};

void run(AnalysisCommand& command) {
  if (command.runs.size() < command.entry.least_runs)
    fail("{} needs at least {} runs; see `lengthwise {} --help`", command.entry.name, command.entry.least_runs,
         command.entry.name);
  check_threads(command.common.threads);
  set_threads(command.common.threads);
  Progress progress(command.quiet ? Progress::Mode::quiet : Progress::Mode::automatic);
  Json options = Json::object();
  add_to_json(Deciding{command}, options);
  const std::string name = command.entry.name;
  const Analysis::Deliver deliver = [&](const AnalysisOutput& output) {
    if (command.save) write_analysis(name, options, output);
    if (command.json) {
      std::cout << json_text(analysis_json(name, options, output, analysis_csv(output))) << '\n';
    } else {
      for (const std::string& note : output.notes) progress.line(note);
      std::cout << output.shown;
      if (command.save) std::cout << fmt::format("{}/analysis/{}.csv\n", shown(output.folder), name);
    }
    std::cout.flush();
  };
  command.analysis->measure({command.runs.begin(), command.runs.end()}, command.common, deliver, progress);
}

}  // namespace

void add_analysis_commands(CLI::App& app) {
  for (const AnalysisEntry& entry : analyses()) {
    CLI::App* command = app.add_subcommand(entry.name, entry.summary);
    auto settings = std::shared_ptr<AnalysisCommand>(new AnalysisCommand{entry, entry.make(), {}});
    command->add_option("RUN", settings->runs, "folders of runs")->required();
    add_options(*command, *settings);
    command->callback([settings] { run(*settings); });
  }
}

}  // namespace lengthwise
