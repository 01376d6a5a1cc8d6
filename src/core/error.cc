#include "core/error.h"

namespace lengthwise {

std::string message_of(const std::exception& error) {
  const std::string whole = error.what();
  return whole.substr(0, whole.find('\n'));
}

void check_failed(const char* expression, const char* file, int line, const std::string& message) {
  throw std::logic_error(fmt::format("{}:{}: {} does not hold: {}", file, line, expression, message));
}

}  // namespace lengthwise
