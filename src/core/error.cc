#include "core/error.h"

#include "core/printable.h"

namespace lengthwise {

void throw_user_error(const std::string& message) {
  throw UserError(printable(message));
}

std::string message_of(const std::exception& error) {
  const std::string whole = error.what();
  return printable(whole.substr(0, whole.find('\n')));
}

void check_failed(const char* expression, const char* file, int line, const std::string& message) {
  throw std::logic_error(fmt::format("{}:{}: {} does not hold: {}", file, line, expression, message));
}

}  // namespace lengthwise
