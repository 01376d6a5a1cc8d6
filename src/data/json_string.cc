#include "data/json_string.h"

#include <cstdint>

namespace lengthwise {

void append_json_string(std::string& out, std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  size_t plain = 0;  // start of the run that needs no escape
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte >= 32 && byte != '"' && byte != '\\') continue;
    out.append(text, plain, i - plain);
    plain = i + 1;
    out += '\\';
    switch (byte) {
      case '"':
      case '\\':
        out += text[i];
        break;
      case '\n':
        out += 'n';
        break;
      case '\t':
        out += 't';
        break;
      case '\r':
        out += 'r';
        break;
      case '\b':
        out += 'b';
        break;
      case '\f':
        out += 'f';
        break;
      default:
        out += "u00";
        out += kHex[byte >> 4];
        out += kHex[byte & 15];
    }
  }
  out.append(text, plain, text.size() - plain);
  out += '"';
}

size_t find_invalid_utf8(std::string_view text) {
  const auto byte_at = [&](size_t i) -> uint32_t { return static_cast<unsigned char>(text[i]); };
  for (size_t i = 0; i < text.size();) {
    const uint32_t lead = byte_at(i);
    if (lead < 0x80) {
      ++i;
      continue;
    }
    const size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || text.size() - i < size) return i;
    uint32_t code = lead & (0x7Fu >> size);
    for (size_t k = 1; k < size; ++k) {
      const uint32_t next = byte_at(i + k);
      if ((next & 0xC0) != 0x80) return i;
      code = (code << 6) | (next & 0x3F);
    }
    constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < kLeast[size] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return i;
    i += size;
  }
  return std::string_view::npos;
}

}  // namespace lengthwise
