#pragma once
/// Comma-separated values (RFC 4180): fields may stand in double quotes, a doubled quote inside them is one quote, and
/// a quoted field may hold commas and line ends. Lines end with LF or CRLF; a byte-order mark at the start is skipped;
/// white space around a bare field does not belong to it; empty lines are skipped.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lengthwise {

struct CsvRow {
  int64_t line = 0;  ///< where it begins, from 1
  std::vector<std::string> fields;
};

/// Row by row, so that a large table takes no more memory than its text. The text must outlive the reader.
class CsvReader {
 public:
  /// Reads the header. `where` is the name of the file, for errors: `FILE:LINE: reason`.
  CsvReader(std::string_view text, std::string where);

  const CsvRow& header() const { return header_; }

  /// The next row, which has as many fields as the header; false at the end.
  bool next(CsvRow& row);

 private:
  bool take_row(CsvRow& row);
  bool take_field(std::string& field, int64_t begun);
  std::string take_quoted(int64_t begun);

  std::string_view left_;
  std::string where_;
  int64_t line_ = 1;
  CsvRow header_;
};

/// Appends one field, in quotes if it needs them.
void append_csv_field(std::string& out, std::string_view field);

/// Appends a line.
void append_csv_row(std::string& out, const std::vector<std::string>& fields);

/// A text as a cell that no spreadsheet takes for a formula: one that begins with `=`, `+`, `-`, `@`, a tab or a line
/// end, whatever number of apostrophes before it, and is not a number gets an apostrophe in front.
std::string text_cell(std::string_view text);

/// The text of such a cell: the inverse of `text_cell`.
std::string_view cell_text(std::string_view cell);

}  // namespace lengthwise
