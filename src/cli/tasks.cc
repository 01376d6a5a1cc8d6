#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <numeric>
#include <optional>

#include "cli/commands.h"
#include "cli/help.h"
#include "cli/options.h"
#include "core/error.h"
#include "core/json.h"
#include "core/table.h"
#include "tasks/registry.h"
#include "tasks/scratchpad_check.h"

namespace lengthwise {
namespace {

/// Far beyond any study; keeps a slip of the keyboard from taking the machine along.
constexpr int64_t kLongest = 10'000;
constexpr int64_t kMostExamples = 1'000'000;

struct ListConfig {
  bool names = false;

  template <class Visitor>
  void visit(Visitor&& field) {
    field("names", names, "print the names alone, one a line");
  }
};

struct ShowConfig {
  std::string task;
  std::optional<int64_t> length;
  int64_t count = 3;
  int64_t seed = 1;
  Style style;
  bool json = false;

  template <class Visitor>
  void visit(Visitor&& field) {
    field("length", length, "length of the problems, in the task's unit");
    field("count", count, "how many examples");
    field("seed", seed, "seed of the examples");
    field("wording", style.wording, "printed (as in the paper's text) or released (as its models read it)");
    field("scratchpad", style.scratchpad, "steps before the answer: none, full, minimal, no-input, ...");
    field("json", json, "print one JSON object a line");
  }
};

struct SolveConfig {
  std::string task;
  Scratchpad scratchpad;

  template <class Visitor>
  void visit(Visitor&& field) {
    field("scratchpad", scratchpad, "steps before the answer: none, full, minimal, no-input, ...");
  }
};

void list_tasks(const ListConfig& config) {
  if (config.names) {
    for (const std::string& name : task_names()) std::cout << name << '\n';
    return;
  }
  Table table({"task", "group", "train", "test", "length counts", "what to do"});
  for (const auto& task : tasks()) {
    const TaskInfo& info = task->info();
    table.add({info.name, info.group, to_text(info.train), to_text(info.test), info.unit, info.summary});
  }
  std::cout << table.to_string();
}

[[noreturn]] void fail_no_length(const Task& task, int64_t length) {
  const TaskInfo& info = task.info();
  std::optional<int64_t> nearest;
  for (const Bin& bin : task.plan({info.train.low, info.test.high}, kMostExamples, Split::test)) {
    if (bin.count > 0 && (!nearest || std::abs(bin.length - length) < std::abs(*nearest - length)))
      nearest = bin.length;
  }
  fail("the task {} has no problems of length {} ({}); the nearest length it has is {}", info.name, length, info.unit,
       nearest.value_or(info.train.low));
}

/// The bins of one length that hold anything, in an order of the seed.
std::vector<Bin> bins_of_length(const Task& task, int64_t length, const Rng& root) {
  std::vector<Bin> bins = task.plan({length, length}, kMostExamples, Split::test);
  bins.erase(std::remove_if(bins.begin(), bins.end(), [](const Bin& bin) { return bin.count < 1; }), bins.end());
  if (bins.empty()) fail_no_length(task, length);
  Rng order = root.stream("order");
  order.shuffle(std::span<Bin>(bins));
  return bins;
}

/// A walk over 0..count-1 that visits each once, with neighbours far apart: some tasks enumerate their problems, and
/// the next one looks like the last.
class Walk {
 public:
  Walk(int64_t count, Rng rng) : count_(count), at_(rng.between(0, count - 1)) {
    step_ = std::max<int64_t>(1, count * 5 / 8);
    while (std::gcd(step_, count) != 1) ++step_;
  }
  int64_t next() { return at_ = (at_ + step_) % count_; }

 private:
  int64_t count_;
  int64_t at_;
  int64_t step_ = 1;
};

void print_example(const Example& example, bool json) {
  if (json) {
    const nlohmann::ordered_json object{{"prompt", example.prompt},
                                        {"target", example.target},
                                        {"length", example.length},
                                        {"category", example.category}};
    std::cout << json_text(object) << '\n';
  } else {
    std::cout << "\nprompt  " << example.prompt << "\ntarget  " << example.target << '\n';
  }
}

int64_t check_length(const ShowConfig& config, const TaskInfo& info) {
  // Short enough to read at a glance, and a length the model would train on.
  const int64_t length = config.length.value_or(std::clamp<int64_t>(4, info.train.low, info.train.high));
  if (length < 1 || length > kLongest) fail("--length: {} does not lie between 1 and {}", length, kLongest);
  return length;
}

void show_task(const ShowConfig& config) {
  const Task& task = find_task(config.task);
  const TaskInfo& info = task.info();
  const int64_t length = check_length(config, info);
  if (config.count < 1 || config.count > kMostExamples) {
    fail("--count: {} does not lie between 1 and {}", config.count, kMostExamples);
  }
  if (config.seed < 0) fail("--seed: {} is negative", config.seed);
  const Style style{config.style.wording, checked_scratchpad(info, config.style.scratchpad, length)};

  const Rng root = Rng(static_cast<uint64_t>(config.seed)).stream("show");
  const std::vector<Bin> bins = bins_of_length(task, length, root);
  std::vector<Walk> walks;
  int64_t available = 0;
  for (size_t i = 0; i < bins.size(); ++i) {
    walks.emplace_back(bins[i].count, root.stream("start").at(i));
    available += bins[i].count;
  }
  if (config.count > available) {
    fail("--count: the task {} has only {} problems of length {}", info.name, available, length);
  }
  if (!config.json) {
    std::cout << fmt::format("{}: {}\nlength {} ({}), {} wording, scratchpad {}\n", info.name, info.summary, length,
                             info.unit, to_text(style.wording), to_text(style.scratchpad));
  }
  Example example;
  int64_t shown = 0;
  for (int64_t round = 0; shown < config.count; ++round) {
    for (size_t i = 0; i < bins.size() && shown < config.count; ++i) {
      if (round >= bins[i].count) continue;
      const Rng rng = root.stream("bin").at(i).stream("examples");
      task.generate({bins[i], walks[i].next(), Split::test, rng}, style, example);
      print_example(example, config.json);
      ++shown;
    }
  }
}

void solve_task(const SolveConfig& config) {
  const Task& task = find_task(config.task);
  checked_scratchpad(task.info(), config.scratchpad, 1);
  std::string prompt;
  for (int64_t line = 1; std::getline(std::cin, prompt); ++line) {
    if (!prompt.empty() && prompt.back() == '\r') prompt.pop_back();
    try {
      std::cout << task.solve(prompt, config.scratchpad) << '\n';
    } catch (const UserError& error) {
      fail("standard input, line {}: {}", line, error.what());
    }
  }
}

}  // namespace

void add_tasks_command(CLI::App& app) {
  CLI::App& list = add_command(app, "tasks", "list the tasks; show examples of one; solve its prompts");
  auto list_config = std::make_shared<ListConfig>();
  add_options(list, *list_config);
  list.callback([&list, list_config] {
    if (list.get_subcommands().empty()) list_tasks(*list_config);
  });

  CLI::App& show = add_command(list, "show", "print examples of a task");
  auto show_config = std::make_shared<ShowConfig>();
  show.add_option("TASK", show_config->task, "a name from `lengthwise tasks`")->required()->type_name("");
  add_options(show, *show_config);
  show.callback([show_config] { show_task(*show_config); });

  CLI::App& solve = add_command(list, "solve", "read prompts, one a line, and print the target of each");
  auto solve_config = std::make_shared<SolveConfig>();
  solve.add_option("TASK", solve_config->task, "a name from `lengthwise tasks`")->required()->type_name("");
  add_options(solve, *solve_config);
  solve.callback([solve_config] { solve_task(*solve_config); });
}

}  // namespace lengthwise
