#pragma once
/// The word to a user whose GPU is full.
#include <string>

namespace lengthwise {

/// UserError: what was tried, how much the card has and is free, and what to change.
[[noreturn]] void fail_out_of_memory(const std::string& what);

}  // namespace lengthwise
