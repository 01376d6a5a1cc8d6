#include "core/refused.h"

#include <algorithm>
#include <new>
#include <string_view>
#include <system_error>

#include "core/error.h"

namespace lengthwise {

std::string refused_by_machine(const std::exception& error) {
  constexpr std::string_view kOutOfMemory[] = {"not enough memory", "can't allocate memory", "out of memory"};
  const std::string message = message_of(error);
  const auto found = [&](std::string_view text) { return message.find(text) != std::string::npos; };
  const bool torch_without_memory = std::any_of(std::begin(kOutOfMemory), std::end(kOutOfMemory), found);
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr || torch_without_memory) {
    return "there is not enough memory; a smaller --batch-size, --model or number of --jobs needs less";
  }
  // Threads that cannot be started, and files where a call of ours did not say more.
  if (dynamic_cast<const std::system_error*>(&error) != nullptr) return "the system refused: " + message;
  return "";
}

}  // namespace lengthwise
