#include "data/json_string.h"

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

}  // namespace lengthwise
