#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/help.h"
#include "cli/options.h"
#include "core/error.h"
#include "core/files.h"
#include "core/json.h"
#include "core/table.h"
#include "core/text.h"
#include "theory/construction.h"
#include "theory/saved_run.h"

namespace lengthwise {
namespace {

constexpr int64_t kMostTokens = 65536;

struct Settings {
  std::vector<std::string> names;
  int64_t length = 64;
  std::string precision = "all";
  std::string decoder = "all";
  bool json = false;
  std::string save;
  std::string task = "position";
  std::string model = "tiny";
  std::string others = "zero";
  double unit = 1;
  int64_t seed = 0;

  template <class Visitor>
  void visit(Visitor&& field) {
    field("length", length, "tokens of the longest sequence");
    field("precision", precision, "fp64, fp32, bf16 or all");
    field("decoder", decoder, "norm-free, tiny, base or all; the last two are the study's decoder in these shapes");
    field("json", json, "one JSON object a line instead of tables");
    field("save", save, "write the one construction that is named as a run folder here, and measure nothing");
    field("task", task, "with --save: whose vocabulary the run has");
    field("model", model, "with --save: preset of sizes, tiny, small or base");
    field("others", others,
          "with --save: what stands in weights that the construction does not need: zero, or drawn as for training");
    field("unit", unit, "with --save absolute: what is written for each position");
    field("seed", seed, "with --save: of what is drawn");
  }
};

std::string json_line(const Finding& finding) {
  nlohmann::ordered_json line = {
      {"construction", finding.construction}, {"decoder", finding.decoder},     {"length", finding.length},
      {"precision", finding.precision},       {"max_error", finding.max_error}, {"as_predicted", finding.as_predicted}};
  for (const auto& [name, value] : finding.values) line[name] = value;
  if (!finding.note.empty()) line["note"] = finding.note;
  return json_text(line);
}

void print_table(const Construction& construction, const std::vector<Finding>& findings) {
  std::cout << fmt::format("{}: {}\n", construction.name, construction.summary);
  if (findings.empty()) return;
  std::vector<std::string> header{"decoder", "length", "precision", "largest error", "as predicted"};
  for (const auto& [name, value] : findings.front().values) header.push_back(name);
  Table table(header);
  for (const Finding& finding : findings) {
    std::vector<std::string> row{finding.decoder, std::to_string(finding.length), finding.precision,
                                 fmt::format("{:.2g}", finding.max_error), finding.as_predicted ? "yes" : "NO"};
    for (const auto& [name, value] : finding.values) row.push_back(fmt::format("{:.6g}", value));
    row.resize(header.size());
    table.add(row);
  }
  std::cout << table.to_string() << '\n';
}

/// `all`, or the one that is named.
void keep_one(const char* option, const std::string& name, std::vector<std::string>& list) {
  if (name == "all") return;
  if (std::find(list.begin(), list.end(), name) == list.end()) {
    fail("--{} must be {} or all, not '{}'{}", option, join(list, ", "), excerpt(name), did_you_mean(name, list));
  }
  list = {name};
}

void save(const Settings& settings, const TheoryOptions& options) {
  if (settings.names.size() != 1) fail("--save writes one construction: name it, as `lengthwise theory absolute`");
  if (settings.others != "zero" && settings.others != "drawn") {
    fail("--others must be zero or drawn, not '{}'", excerpt(settings.others));
  }
  TrainConfig like;
  like.data.task = settings.task;
  like.model.model = settings.model;
  like.seed = settings.seed;
  save_construction(find_construction(settings.names.front()), options, like,
                    settings.others == "drawn" ? OtherWeights::drawn : OtherWeights::zero, settings.save);
  std::cout << fmt::format(
      "{}: the construction {} for up to {} tokens of {}; `lengthwise train --start-from` begins "
      "with it\n",
      shown(settings.save), settings.names.front(), options.length, settings.task);
}

void run_theory(const Settings& settings) {
  TheoryOptions options;
  options.length = settings.length;
  options.unit = settings.unit;
  if (options.length < 3 || options.length > kMostTokens)
    fail("--length must be between 3 and {}, not {}", kMostTokens, options.length);
  if (!(options.unit > 0)) fail("--unit must be above 0, not {}", options.unit);
  keep_one("precision", settings.precision, options.precisions);
  keep_one("decoder", settings.decoder, options.decoders);
  for (const std::string& name : settings.names) find_construction(name);
  if (!settings.save.empty()) return save(settings, options);
  bool all = true;
  for (const Construction& construction : constructions()) {
    if (!settings.names.empty() &&
        std::find(settings.names.begin(), settings.names.end(), construction.name) == settings.names.end())
      continue;
    const std::vector<Finding> findings = construction.measure(options);
    for (const Finding& finding : findings) {
      all = all && finding.as_predicted;
      if (settings.json) std::cout << json_line(finding) << '\n';
    }
    if (!settings.json) print_table(construction, findings);
    std::cout.flush();
  }
  if (!all) throw Exit{1};
}

}  // namespace

void add_theory_command(CLI::App& app) {
  CLI::App& command = add_command(app, "theory", "set weights as theorems do, run them and measure the errors");
  auto settings = std::make_shared<Settings>();
  command.add_option("construction", settings->names, "which to run; all of them without");
  add_options(command, *settings);
  command.callback([settings] { run_theory(*settings); });
}

}  // namespace lengthwise
