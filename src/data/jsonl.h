#pragma once
/// Examples as lines of JSON (docs/formats.md):
///
///     {"prompt":"Compute: 1 2 + 9 ?","target":"The answer is 2 1.","length":2,"category":"2-by-1"}
///
/// `prompt` and `target` are strings with something besides white space in them, `length` is a whole number from 1 to
/// 1,000,000, and `category` a string (where there is none: the length). Other keys are ignored.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace lengthwise {

struct Example;

inline constexpr size_t kLongestJsonlLine = 1 << 20;  ///< bytes, without the line feed

/// Reads one line, without its line feed, into `out`; runs of white space in the texts become one space. Throws
/// UserError with the reason alone.
void parse_jsonl_line(std::string_view line, Example& out);

/// Calls `take` for every line of a file in order. Empty lines at its end are left out; anywhere else they are bad. The
/// first bad line is a UserError `FILE:LINE: reason`; memory is bounded by the longest line.
void read_jsonl(const std::filesystem::path& path, const std::function<void(const Example&)>& take);

/// Appends the line of an example and a line feed: the four keys above in that order, without white space between them.
void append_jsonl(std::string& out, const Example& example);

}  // namespace lengthwise
