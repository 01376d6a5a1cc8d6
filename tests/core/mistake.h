#pragma once
/// What the user is told.
#include <functional>
#include <string>

#include "core/error.h"

namespace lengthwise {

/// The message of the UserError that `action` throws, or "" when it throws none.
inline std::string mistake_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

}  // namespace lengthwise
