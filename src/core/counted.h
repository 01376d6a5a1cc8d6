#pragma once
/// How many there are of something, as texts say it.
#include <cstddef>
#include <string>

namespace lengthwise {

/// `1 seed`, `3 seeds`.
inline std::string counted(size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace lengthwise
