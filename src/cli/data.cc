#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <set>

#include "cli/commands.h"
#include "cli/help.h"
#include "cli/options.h"
#include "core/error.h"
#include "core/files.h"
#include "core/json.h"
#include "core/table.h"
#include "data/export.h"
#include "data/remarks.h"
#include "data/statistics.h"

namespace lengthwise {
namespace {

struct ExportConfig {
  DataConfig data;
  std::string out;

  template <class Visitor>
  void visit(Visitor&& field) {
    field("out", out, "the folder to write; must not exist, or be empty");
    data.visit(field);
  }
};

struct StatsConfig {
  DataConfig data;
  bool json = false;

  template <class Visitor>
  void visit(Visitor&& field) {
    field("json", json, "print one JSON object");
    data.visit(field);
  }
};

/// 1234567 -> 1,234,567
std::string grouped(int64_t number) {
  std::string text = fmt::format("{}", number);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<size_t>(at), ",");
  return text;
}

void write_data(const ExportConfig& config) {
  if (config.out.empty()) fail("no folder to write: name one with --out");
  const SplitCounts exported = export_data(config.data, config.out);
  std::cout << fmt::format("{}: train.jsonl {}, validation.jsonl {}, test.jsonl {} examples\n", shown(config.out),
                           grouped(exported.train), grouped(exported.validation), grouped(exported.test));
  for (const std::string& line : shortfalls(resolve(config.data), exported)) std::cout << line << '\n';
}

void print_json(const StatsConfig& config, const DataStatistics& statistics) {
  nlohmann::ordered_json object;
  add_to_json(config.data, object["config"]);
  object.update(to_json(statistics));
  std::cout << json_text(object, 2) << '\n';
}

using NamedSplit = std::pair<const char*, const SplitStatistics*>;

void print_splits(const std::vector<NamedSplit>& splits) {
  Table table({"split", "examples", "tokens", "prompt mean", "max", "target mean", "max", "distinct prompts",
               "in training", "new words"});
  for (const auto& [name, split] : splits) {
    const bool training = split == splits.front().second;
    table.add({name, grouped(split->examples), grouped(split->tokens), fmt::format("{:.1f}", split->mean_prompt_tokens),
               grouped(split->max_prompt_tokens), fmt::format("{:.1f}", split->mean_target_tokens),
               grouped(split->max_target_tokens), grouped(split->distinct_prompts),
               training ? "" : grouped(split->prompts_in_training),
               training ? "" : grouped(split->words_not_in_training)});
  }
  std::cout << table.to_string();
}

void print_lengths(const std::vector<NamedSplit>& splits) {
  std::set<int64_t> lengths;
  for (const auto& [name, split] : splits) {
    for (const auto& [length, count] : split->by_length) lengths.insert(length);
  }
  Table table({"length", "train", "validation", "test"});
  for (const int64_t length : lengths) {
    std::vector<std::string> row{fmt::format("{}", length)};
    for (const auto& [name, split] : splits) {
      const auto found = split->by_length.find(length);
      row.push_back(found == split->by_length.end() ? "" : grouped(found->second));
    }
    table.add(row);
  }
  std::cout << table.to_string();
}

void print_text(const StatsConfig& config, const DataSet& set, const DataStatistics& statistics) {
  const std::vector<NamedSplit> splits{
      {"train", &statistics.train}, {"validation", &statistics.validation}, {"test", &statistics.test}};
  print_splits(splits);
  std::cout << fmt::format(
      "\nTokens include the specials; the vocabulary has {}. \"in training\": examples whose prompt "
      "stands in training.\n",
      grouped(statistics.vocabulary));
  for (const auto& [name, split] : splits) {
    if (split->examples > 0) continue;
    std::cout << fmt::format("The {} set is empty{}.\n", name,
                             config.data.dedup ? ": every prompt it had stands in training" : "");
  }
  for (const std::string& line : remarks(config.data, set)) std::cout << line << ".\n";
  std::cout << '\n';
  print_lengths(splits);
}

}  // namespace

void add_data_command(CLI::App& app) {
  CLI::App& command = add_command(app, "data", "write a data set to files; say what is in one");
  command.callback([&command] {
    if (command.get_subcommands().empty()) std::cout << command.help();
  });

  CLI::App& write = add_command(command, "export", "write train.jsonl, validation.jsonl and test.jsonl");
  auto write_config = std::make_shared<ExportConfig>();
  add_options(write, *write_config);
  add_config_file(write, *write_config);
  write.callback([write_config] { write_data(*write_config); });

  CLI::App& stats = add_command(command, "stats", "count examples, tokens, lengths and repeated prompts");
  auto stats_config = std::make_shared<StatsConfig>();
  add_options(stats, *stats_config);
  add_config_file(stats, *stats_config);
  stats.callback([stats_config] {
    if (!stats_config->data.text.empty()) fail("a text has no examples to count; its manifest.json says what is in it");
    const DataSet set = build_data_set(stats_config->data);
    const DataStatistics statistics = measure(set);
    stats_config->json ? print_json(*stats_config, statistics) : print_text(*stats_config, set, statistics);
  });
}

}  // namespace lengthwise
