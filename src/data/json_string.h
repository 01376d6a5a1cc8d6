#pragma once
/// Writing JSON strings.
#include <cstddef>
#include <string>
#include <string_view>

#include "core/printable.h"

namespace lengthwise {

/// Appends `text` as a JSON string with its quotes. `"`, `\` and the bytes below 32 are escaped (`\n`, `\t`, `\r`,
/// `\b`,
/// `\f`, otherwise `\u00XX` in lower case); everything else, UTF-8 included, stands as it is.
void append_json_string(std::string& out, std::string_view text);

}  // namespace lengthwise
