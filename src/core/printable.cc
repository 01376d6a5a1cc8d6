#include "core/printable.h"

#include <fmt/format.h>

#include <cstdint>

namespace lengthwise {
namespace {

struct Character {
  size_t size = 0;  ///< bytes; 0: not well-formed
  uint32_t code = 0;
};

Character take_character(std::string_view text) {
  const auto byte_at = [&](size_t i) -> uint32_t { return static_cast<unsigned char>(text[i]); };
  const uint32_t lead = byte_at(0);
  if (lead < 0x80) return {1, lead};
  const size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < size) return {};
  uint32_t code = lead & (0x7Fu >> size);
  for (size_t k = 1; k < size; ++k) {
    const uint32_t next = byte_at(k);
    if ((next & 0xC0) != 0x80) return {};
    code = (code << 6) | (next & 0x3F);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[size] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return {};
  return {size, code};
}

bool has_power(uint32_t code) {
  const auto within = [code](uint32_t low, uint32_t high) { return low <= code && code <= high; };
  return code < 0x20 || within(0x7F, 0x9F) || within(0x200E, 0x200F) || within(0x2028, 0x202E) ||
         within(0x2066, 0x2069);
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const Character character = take_character(text);
    if (character.size == 0) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
      text.remove_prefix(1);
      continue;
    }
    switch (character.code) {
      case '\n':
        result += "\\n";
        break;
      case '\r':
        result += "\\r";
        break;
      case '\t':
        result += "\\t";
        break;
      default:
        if (has_power(character.code)) {
          result += fmt::format("\\u{{{:x}}}", character.code);
        } else {
          result += text.substr(0, character.size);
        }
    }
    text.remove_prefix(character.size);
  }
  return result;
}

size_t find_invalid_utf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t size = take_character(text.substr(at)).size;
    if (size == 0) return at;
    at += size;
  }
  return std::string_view::npos;
}

}  // namespace lengthwise
