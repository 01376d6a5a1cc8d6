#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>

#include "cli/commands.h"
#include "cli/comparison_tables.h"
#include "cli/options.h"
#include "core/error.h"
#include "core/files.h"
#include "core/text.h"
#include "results/load_results.h"
#include "results/read_scores.h"
#include "results/tidy.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;

struct CompareCommand {
  std::string path;
  std::vector<std::string> csv;  ///< the option's value, if it has one
  std::vector<std::string> json;
  CLI::Option* csv_option = nullptr;
  CLI::Option* json_option = nullptr;
  CompareOptions options;
  std::string weights = "best";
  std::string encodings;
  bool by_length = false;

  template <class Visitor>
  void visit(Visitor&& field) {
    field("ties", options.ties, "average, or paper: by the published row order");
    field("encodings", encodings, "compare only these, separated by commas");
    field("by-length", by_length, "also print accuracies by length");
    field("weights", weights, "best or last");
    field("fit", options.fit, "warn of runs with less accuracy than this on the training lengths");
    field("resamples", options.resamples, "resamples of the bootstrap intervals");
  }
};

/// Both kinds of input; only one of the two is filled with runs.
struct Loaded {
  bool from_runs = false;
  Results results;
  std::vector<Score> scores;
  std::vector<std::string> notes;
};

Loaded load(const CompareCommand& command) {
  Loaded loaded;
  if (!fs::exists(command.path)) fail("there is neither a folder nor a file {}", command.path);
  loaded.from_runs = fs::is_directory(command.path);
  if (loaded.from_runs) {
    loaded.results = load_results(command.path, {.weights = command.weights});
    loaded.notes = loaded.results.notes;
    loaded.scores = scores_of(loaded.results, loaded.notes);
  } else {
    loaded.scores = read_scores(command.path);
  }
  return loaded;
}

void keep_encodings(const std::string& list, std::vector<Score>& scores) {
  std::vector<std::string> known;
  for (const Score& score : scores) {
    if (std::find(known.begin(), known.end(), score.encoding) == known.end()) known.push_back(score.encoding);
  }
  std::vector<std::string> wanted;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t comma = std::min(list.find(',', begin), list.size());
    const std::string name(trim(std::string_view(list).substr(begin, comma - begin)));
    begin = comma + 1;
    if (name.empty()) continue;
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      fail("--encodings: there are no results of '{}'; there are {}{}", excerpt(name), join(known, ", "),
           did_you_mean(name, known));
    }
    wanted.push_back(name);
  }
  std::erase_if(scores, [&](const Score& score) {
    return std::find(wanted.begin(), wanted.end(), score.encoding) == wanted.end();
  });
}

std::string states_text(const Results& results) {
  std::string text = fmt::format("{}: {} of {} runs finished\n", results.name, results.count(StoredState::finished),
                                 results.runs.size());
  for (const StoredRun& run : results.runs) {
    if (run.state == StoredState::finished) continue;
    text += fmt::format("  {} {}", to_text(run.state), run.name);
    if (run.steps > 0) text += fmt::format(", step {} of {}", run.step, run.steps);
    text += run.reason.empty() ? "\n" : ": " + run.reason + "\n";
  }
  return text;
}

/// To a file, or to standard output where the option has no value.
bool write_tidy(const std::vector<std::string>& target, const std::string& text) {
  if (target.empty()) {
    std::cout << text;
    return true;
  }
  write_file(target.front(), text);
  return false;
}

void run(CompareCommand& command) {
  for (std::vector<std::string>* target : {&command.csv, &command.json}) {
    // An option without its value has an empty one.
    std::erase(*target, "");
    // `compare --csv DIR` reads as "write DIR"; nobody means that.
    if (command.path.empty() && !target->empty() && fs::exists(target->front())) {
      command.path = target->front();
      target->clear();
    }
  }
  if (command.path.empty()) fail("PATH is missing; see `lengthwise compare --help`");
  Loaded loaded = load(command);
  bool printed = false;
  if (command.csv_option->count() > 0) {
    printed = write_tidy(command.csv, loaded.from_runs ? tidy_csv(loaded.results) : tidy_csv(loaded.scores));
  }
  if (command.json_option->count() > 0) {
    printed |= write_tidy(command.json, loaded.from_runs ? tidy_json(loaded.results) : tidy_json(loaded.scores));
  }
  if (printed) return;
  if (!command.encodings.empty()) keep_encodings(command.encodings, loaded.scores);
  Comparison comparison = compare_scores(loaded.scores, command.options);
  comparison.notes.insert(comparison.notes.end(), loaded.notes.begin(), loaded.notes.end());
  if (loaded.from_runs) std::cout << states_text(loaded.results) << '\n';
  std::cout << comparison_text(comparison, command.by_length);
}

}  // namespace

void add_compare_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("compare", "rank encodings by their results on longer lengths");
  auto config = std::make_shared<CompareCommand>();
  command->add_option("PATH", config->path,
                      "a study, a run, any folder with runs in it, or a CSV file with the columns split, category, "
                      "encoding, seed and accuracy");
  config->csv_option = command->add_option("--csv", config->csv,
                                           "write the results, one row per run and length; without FILE to standard "
                                           "output, instead of the tables");
  config->json_option = command->add_option("--json", config->json, "the same as an array of JSON objects");
  for (CLI::Option* option : {config->csv_option, config->json_option}) option->type_name("[FILE]")->expected(0, 1);
  add_options(*command, *config);
  command->callback([config] { run(*config); });
}

}  // namespace lengthwise
