#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "core/error.h"
#include "core/table.h"
#include "core/text.h"
#include "theory/construction.h"

namespace lengthwise {
namespace {

struct Settings {
  TheoryOptions theory;
  std::vector<std::string> names;
  bool json = false;
};

std::string json_line(const Finding& finding) {
  nlohmann::ordered_json line = {
      {"construction", finding.construction}, {"decoder", finding.decoder},     {"length", finding.length},
      {"precision", finding.precision},       {"max_error", finding.max_error}, {"as_predicted", finding.as_predicted}};
  for (const auto& [name, value] : finding.values) line[name] = value;
  if (!finding.note.empty()) line["note"] = finding.note;
  return line.dump();
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

void run_theory(const Settings& settings) {
  if (settings.theory.length < 3 || settings.theory.length > 65536)
    fail("--length must be between 3 and 65536, not {}", settings.theory.length);
  bool all = true;
  for (const Construction& construction : constructions()) {
    if (!settings.names.empty() &&
        std::find(settings.names.begin(), settings.names.end(), construction.name) == settings.names.end())
      continue;
    const std::vector<Finding> findings = construction.measure(settings.theory);
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
  CLI::App* command = app.add_subcommand("theory", "set weights as theorems do, run them and measure the errors");
  auto settings = std::make_shared<Settings>();
  command->add_option("construction", settings->names, "which to run; all of them without");
  command->add_option("--length", settings->theory.length, "longest sequence")->capture_default_str();
  command->add_flag("--json", settings->json, "one JSON object a line");
  command->callback([settings] {
    for (const std::string& name : settings->names) find_construction(name);
    run_theory(*settings);
  });
}

}  // namespace lengthwise
