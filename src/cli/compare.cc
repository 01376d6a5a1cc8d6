#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <set>
#include <sstream>

#include "cli/commands.h"
#include "cli/comparison_tables.h"
#include "cli/damaged_runs.h"
#include "cli/options.h"
#include "cli/readings_tables.h"
#include "core/error.h"
#include "core/files.h"
#include "core/printable.h"
#include "core/text.h"
#include "report/markdown.h"
#include "report/perplexity_markdown.h"
#include "results/load_results.h"
#include "results/read_scores.h"
#include "results/tidy.h"

namespace lengthwise {
namespace {

struct CompareCommand {
  std::string path;
  std::vector<std::string> csv;  ///< the option's value, if it has one
  std::vector<std::string> json;
  CLI::Option* csv_option = nullptr;
  CLI::Option* json_option = nullptr;
  CompareOptions options;
  std::string weights = "best";
  std::string encodings;
  std::string tune;
  ShownTables tables;
  bool markdown = false;
  std::string into;

  template <class Visitor>
  void visit(Visitor&& field) {
    field("ties", options.ties, kTiesHelp);
    field("encodings", encodings, "compare only these, separated by commas");
    field("by-length", tables.by_length, "also print accuracies by length");
    field("by-category", tables.by_category, "also print a ranking with intervals for every category of tasks");
    field("all", tables.all, "of more than 12 encodings print every split, pair and warning as well");
    field("markdown", markdown,
          "print Markdown instead: the ranking, accuracies by task and by length, and what each encoding costs");
    field("into", into, "a document whose marked part these tables replace");
    field("weights", weights, "best or last");
    field("fit", options.fit,
          "leave out runs with less accuracy than this on the training lengths; without it those under 0.9 are ranked "
          "like the others, with a warning");
    field("tune", tune,
          "options, separated by commas, whose value is chosen by validation for every encoding and split");
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

std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> names;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t comma = std::min(list.find(',', begin), list.size());
    const std::string name(trim(std::string_view(list).substr(begin, comma - begin)));
    if (!name.empty()) names.push_back(name);
    begin = comma + 1;
  }
  return names;
}

Loaded load(const CompareCommand& command) {
  Loaded loaded;
  if (!is_there(command.path)) fail("there is neither a folder nor a file {}", shown(command.path));
  loaded.from_runs = is_folder(command.path);
  if (loaded.from_runs) {
    loaded.results = load_results(command.path, {.weights = command.weights, .tune = names_in(command.tune)});
    loaded.notes = loaded.results.notes;
    loaded.scores = scores_of(loaded.results, loaded.notes);
  } else {
    if (!command.tune.empty()) fail("--tune goes with a folder of runs; a CSV file has a column 'tuned'");
    loaded.scores = read_scores(command.path);
  }
  return loaded;
}

void keep_encodings(const std::string& list, std::vector<Score>& scores) {
  std::vector<std::string> known;
  std::set<std::string> seen;
  for (const Score& score : scores) {
    if (seen.insert(score.encoding).second) known.push_back(score.encoding);
  }
  std::set<std::string> wanted;
  for (const std::string& name : names_in(list)) {
    if (!seen.contains(name)) {
      fail("--encodings: there are no results of '{}'; there are {}{}", excerpt(name), excerpt(join(known, ", "), 1000),
           did_you_mean(name, known));
    }
    wanted.insert(name);
  }
  std::erase_if(scores, [&](const Score& score) { return !wanted.contains(score.encoding); });
}

std::string states_text(const Results& results) {
  std::string text = fmt::format("{}: {} of {} runs finished\n", printable(results.name),
                                 results.count(StoredState::finished), results.runs.size());
  for (const StoredRun& run : results.runs) {
    if (run.state == StoredState::finished) continue;
    std::string line = fmt::format("{} {}", to_text(run.state), run.name);
    if (run.steps > 0) line += fmt::format(", step {} of {}", run.step, run.steps);
    text += "  " + printable(run.reason.empty() ? line : line + ": " + run.reason) + "\n";
  }
  return text;
}

/// To a file, or to standard output where the option has no value.
bool write_tidy(const std::vector<std::string>& target, const std::string& text) {
  if (!target.empty()) {
    write_file(target.front(), text);
    return false;
  }
  if (::isatty(STDOUT_FILENO) == 0) {
    std::cout << text;
    return true;
  }
  // A program reads the bytes as they are; a terminal would obey some of them.
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) std::cout << printable(line) << '\n';
  return true;
}

void run(CompareCommand& command) {
  for (std::vector<std::string>* target : {&command.csv, &command.json}) {
    // An option without its value has an empty one.
    std::erase(*target, "");
    // `compare --csv DIR` reads as "write DIR"; nobody means that.
    if (command.path.empty() && !target->empty() && is_there(target->front())) {
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
  if (printed) return end_with_damaged(loaded.results);
  if (!command.encodings.empty()) keep_encodings(command.encodings, loaded.scores);
  const std::vector<PerplexityRanking> texts = rank_perplexity(take_text(loaded.scores));
  Comparison comparison = compare_scores(loaded.scores, command.options);
  comparison.notes.insert(comparison.notes.end(), loaded.notes.begin(), loaded.notes.end());
  if (command.markdown || !command.into.empty()) {
    std::string tables = perplexity_markdown(loaded.results, texts, command.weights);
    if (comparison.runs > 0 || texts.empty()) tables += comparison_markdown(loaded.results, comparison);
    if (command.markdown) std::cout << tables;
    if (!command.into.empty())
      write_file(command.into, with_comparison(read_file(command.into), tables, shown(command.into)));
    return end_with_damaged(loaded.results);
  }
  if (loaded.from_runs) std::cout << states_text(loaded.results) << '\n';
  std::cout << comparison_text(comparison, texts, text_readings(loaded.results, texts, command.weights),
                               command.tables);
  end_with_damaged(loaded.results);
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
