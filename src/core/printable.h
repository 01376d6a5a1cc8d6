#pragma once
/// Text of unknown origin (names of files, contents of damaged ones) on its way to a terminal or into a message.
#include <cstddef>
#include <string>
#include <string_view>

namespace lengthwise {

/// The text on one line and without power over the terminal: control characters (C0, DEL, C1), line and paragraph
/// separators and those that turn the direction of writing become `\n`, `\t`, `\r` or `\u{1b}`, bytes that are no
/// UTF-8 `\xff`. Everything else stays, so that a printable text is its own result.
std::string printable(std::string_view text);

/// Where the first byte stands that is no part of well-formed UTF-8 (no overlong forms, surrogates or code points above
/// U+10FFFF), or npos.
size_t find_invalid_utf8(std::string_view text);

}  // namespace lengthwise
