#pragma once
/// Which scratchpads a task can write.
#include <cstdint>

#include "tasks/task.h"

namespace lengthwise {

/// A scratchpad repeats what remains at every step, so that it grows with the square of the length: at this length it
/// has some megabytes.
inline constexpr int64_t kMaxScratchpadLength = 1000;

/// The format as the task writes it: `variables` is dropped where the task has none. Throws UserError for a scratchpad
/// that the task does not have, and for a problem longer than kMaxScratchpadLength.
Scratchpad checked_scratchpad(const TaskInfo& info, const Scratchpad& format, int64_t length);

}  // namespace lengthwise
