#pragma once
/// Appending numbers and digits to a text without allocating.
#include <charconv>
#include <cstdint>
#include <string>

namespace lengthwise {

/// 305 -> `305`
inline void append_number(std::string& text, int64_t value) {
  char buffer[20];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  text.append(buffer, result.ptr);
}

/// 305 -> `3 0 5`, -16 -> `- 1 6`: one digit a token, as the study writes its numbers.
inline void append_spaced(std::string& text, int64_t value) {
  char buffer[20];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  for (const char* at = buffer; at != result.ptr; ++at) {
    if (at != buffer) text += ' ';
    text += *at;
  }
}

}  // namespace lengthwise
