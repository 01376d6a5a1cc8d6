#pragma once
/// Writing JSON strings, and saying what is wrong with bytes that should be UTF-8.
#include <cstddef>
#include <string>
#include <string_view>

namespace lengthwise {

/// Appends `text` as a JSON string with its quotes. `"`, `\` and the bytes below 32 are escaped (`\n`, `\t`, `\r`,
/// `\b`,
/// `\f`, otherwise `\u00XX` in lower case); everything else, UTF-8 included, stands as it is.
void append_json_string(std::string& out, std::string_view text);

/// Where the first byte stands that is no part of well-formed UTF-8 (no overlong forms, surrogates or code points above
/// U+10FFFF), or npos.
size_t find_invalid_utf8(std::string_view text);

}  // namespace lengthwise
