#pragma once
/// The list of tasks. Help texts, error messages, documentation and property tests follow from it.
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tasks/task.h"

namespace lengthwise {

/// What a family's `make_...` function gives: its variants, the one that carries the family's name first.
using TaskList = std::vector<std::unique_ptr<Task>>;

/// A list of one.
template <class T>
TaskList single_task() {
  TaskList list;
  list.push_back(std::make_unique<T>());
  return list;
}

/// Every task: the paper's in its order, and others wherever their lines stand.
std::span<const std::unique_ptr<Task>> tasks();

/// The task of that name (or of the paper's own split name); an unknown name is a UserError with the nearest known one.
const Task& find_task(std::string_view name);

std::vector<std::string> task_names();

}  // namespace lengthwise
