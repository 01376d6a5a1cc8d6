#include "core/base64.h"

namespace lengthwise {
namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string base64(std::string_view bytes) {
  std::string text;
  for (size_t at = 0; at < bytes.size(); at += 3) {
    uint32_t three = 0;
    for (size_t i = 0; i < 3; ++i)
      three = three << 8 | (at + i < bytes.size() ? static_cast<uint8_t>(bytes[at + i]) : 0u);
    for (size_t i = 0; i < 4; ++i) text += at + i > bytes.size() ? '=' : kDigits[three >> (18 - 6 * i) & 63];
  }
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  const size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  std::string bytes;
  for (size_t at = 0; at < text.size(); at += 4) {
    uint32_t three = 0;
    for (size_t i = 0; i < 4; ++i) {
      const size_t digit = at + i < text.size() - padding ? kDigits.find(text[at + i]) : 0;
      if (digit == std::string_view::npos) return std::nullopt;
      three = three << 6 | static_cast<uint32_t>(digit);
    }
    for (const int shift : {16, 8, 0}) bytes += static_cast<char>(three >> shift & 255);
  }
  bytes.resize(bytes.size() - padding);
  // One text for the same bytes: bits that belong to no byte are zero.
  return base64(bytes) == text ? std::optional(bytes) : std::nullopt;
}

}  // namespace lengthwise
