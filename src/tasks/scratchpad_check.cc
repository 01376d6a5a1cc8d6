#include "tasks/scratchpad_check.h"

#include "core/error.h"
#include "core/text.h"
#include "tasks/registry.h"

namespace lengthwise {

Scratchpad checked_scratchpad(const TaskInfo& info, const Scratchpad& format, int64_t length) {
  if (!format.any()) return format;
  if (!info.scratchpad) {
    std::vector<std::string> names;
    for (const auto& task : tasks()) {
      if (task->info().scratchpad) names.push_back(task->info().name);
    }
    fail("{} has no scratchpad: leave it at 'none', or take one of {}", info.name, join(names, ", "));
  }
  if (length > kMaxScratchpadLength) {
    fail("{}: a scratchpad is written for lengths up to {}; this problem has {} ({})", info.name, kMaxScratchpadLength,
         length, info.unit);
  }
  Scratchpad supported = format;
  supported.variables = format.variables && info.variables;
  return supported;
}

}  // namespace lengthwise
