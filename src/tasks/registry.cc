#include "tasks/registry.h"

#include "core/error.h"
#include "core/text.h"

namespace lengthwise {

// Each is defined in the file of its name.
std::unique_ptr<Task> make_copy(std::string_view split);
std::unique_ptr<Task> make_reverse(std::string_view split);
std::unique_ptr<Task> make_addition();
std::unique_ptr<Task> make_polynomial();
std::unique_ptr<Task> make_sort();
std::unique_ptr<Task> make_sort_multi();
std::unique_ptr<Task> make_summation();
std::unique_ptr<Task> make_parity();
std::unique_ptr<Task> make_lego();
std::unique_ptr<Task> make_scan();
std::unique_ptr<Task> make_pcfg();

std::span<const std::unique_ptr<Task>> tasks() {
  static const std::vector<std::unique_ptr<Task>> all = [] {
    std::vector<std::unique_ptr<Task>> list;
    list.push_back(make_copy("cmc"));
    list.push_back(make_copy("rsc"));
    list.push_back(make_copy("rsc2x"));
    list.push_back(make_copy("rdc"));
    list.push_back(make_copy("cmc2x"));
    list.push_back(make_reverse("mc"));
    list.push_back(make_reverse("mc2x"));
    list.push_back(make_reverse("mcrv"));
    list.push_back(make_addition());
    list.push_back(make_polynomial());
    list.push_back(make_sort());
    list.push_back(make_sort_multi());
    list.push_back(make_summation());
    list.push_back(make_parity());
    list.push_back(make_lego());
    list.push_back(make_scan());
    list.push_back(make_pcfg());
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
  fail("there is no task '{}' (`lengthwise tasks` lists them){}", excerpt(name), did_you_mean(name, task_names()));
}

}  // namespace lengthwise
