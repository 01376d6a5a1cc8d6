#pragma once
/// The list of tasks. Help texts, error messages, documentation and property tests follow from it.
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tasks/task.h"

namespace lengthwise {

/// Every task, in the paper's order.
std::span<const std::unique_ptr<Task>> tasks();

/// The task of that name (or of the paper's own split name); an unknown name is a UserError with the nearest known one.
const Task& find_task(std::string_view name);

std::vector<std::string> task_names();

}  // namespace lengthwise
