#pragma once
/// Text of unknown origin (names of files, contents of damaged ones) on its way to a terminal or into a message.
#include <string>
#include <string_view>

namespace lengthwise {

/// The text on one line and without power over the terminal: control characters (C0, DEL, C1), line and paragraph
/// separators and those that turn the direction of writing become `\n`, `\t`, `\r` or `\u{1b}`, bytes that are no
/// UTF-8 `\xff`. Everything else stays, so that a printable text is its own result.
std::string printable(std::string_view text);

}  // namespace lengthwise
