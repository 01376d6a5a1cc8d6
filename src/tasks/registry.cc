#include "tasks/registry.h"

#include "core/error.h"
#include "core/text.h"

namespace lengthwise {

// Each is defined in the file of its name.
std::unique_ptr<Task> make_addition();

std::span<const std::unique_ptr<Task>> tasks() {
  static const std::vector<std::unique_ptr<Task>> all = [] {
    std::vector<std::unique_ptr<Task>> list;
    list.push_back(make_addition());
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
    if (task->info().name == name || task->info().paper == name) return *task;
  }
  fail("there is no task '{}'{}; `lengthwise tasks` lists them", excerpt(name), did_you_mean(name, task_names()));
}

}  // namespace lengthwise
