#pragma once
/// Numbers and digits in texts: appended without allocating.
#include <charconv>
#include <cstdint>
#include <string>

namespace lengthwise {

/// 305 -> `305`
inline void append_number(std::string& text, int64_t value) {
  if (value >= 0 && value <= 9) {
    text += static_cast<char>('0' + value);
    return;
  }
  char buffer[20];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  text.append(buffer, static_cast<size_t>(result.ptr - buffer));
}

/// 305 -> `3 0 5`, -16 -> `- 1 6`: one digit a token, as the study writes its numbers.
inline void append_spaced(std::string& text, int64_t value) {
  if (value >= 0 && value <= 9) {
    text += static_cast<char>('0' + value);
    return;
  }
  char buffer[20];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  char spaced[40];
  size_t size = 0;
  for (const char* at = buffer; at != result.ptr; ++at) {
    spaced[size++] = *at;
    spaced[size++] = ' ';
  }
  text.append(spaced, size - 1);
}

/// Every digit by itself, before a comma and before a period, for Task::lexicon(): where a word and the symbol behind
/// it are one token, each pair is a token of its own.
inline std::string digit_lexicon() {
  std::string text = "0 1 2 3 4 5 6 7 8 9";
  for (const char symbol : {',', '.'}) {
    for (char digit = '0'; digit <= '9'; ++digit) text += {' ', digit, symbol};
  }
  return text;
}

}  // namespace lengthwise
