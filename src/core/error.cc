#include "core/error.h"

namespace lengthwise {

void check_failed(const char* expression, const char* file, int line, const std::string& message) {
  throw std::logic_error(fmt::format("{}:{}: {} does not hold: {}", file, line, expression, message));
}

}  // namespace lengthwise
