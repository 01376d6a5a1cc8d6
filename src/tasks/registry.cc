#include "tasks/registry.h"

#include "core/error.h"
#include "core/text.h"

namespace lengthwise {

// One line per family, the paper's in its order and then others: a function, defined in the family's file, that makes
// all its variants.
#define LENGTHWISE_TASKS(TASKS) \
  TASKS(make_copy)              \
  TASKS(make_reverse)           \
  TASKS(make_addition)          \
  TASKS(make_polynomial)        \
  TASKS(make_sort)              \
  TASKS(make_summation)         \
  TASKS(make_parity)            \
  TASKS(make_lego)              \
  TASKS(make_scan)              \
  TASKS(make_pcfg)              \
  TASKS(make_position)          \
  TASKS(make_distance)          \
  TASKS(make_reversed_addition)

#define LENGTHWISE_DECLARE(make) TaskList make();
LENGTHWISE_TASKS(LENGTHWISE_DECLARE)
#undef LENGTHWISE_DECLARE

std::span<const std::unique_ptr<Task>> tasks() {
  static const TaskList all = [] {
    TaskList list;
#define LENGTHWISE_APPEND(make) \
  for (auto& task : make()) list.push_back(std::move(task));
    LENGTHWISE_TASKS(LENGTHWISE_APPEND)
#undef LENGTHWISE_APPEND
    return list;
  }();
  return all;
}

std::vector<std::string> task_names() {
  std::vector<std::string> names;
  for (const auto& task : tasks()) names.push_back(task->info().name);
  return names;
}

const Task& find_task(std::string_view name) {
  for (const auto& task : tasks()) {
    if (task->info().name == name || (!name.empty() && task->info().paper == name)) return *task;
  }
  fail("there is no task '{}' (`lengthwise tasks` lists them){}", excerpt(name), did_you_mean(name, task_names()));
}

}  // namespace lengthwise
