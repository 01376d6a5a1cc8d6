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

struct CsvTable {
  CsvRow header;
  std::vector<CsvRow> rows;  ///< each with as many fields as the header
};

/// `where` is the name of the file, for errors: `FILE:LINE: reason`.
CsvTable parse_csv(std::string_view text, const std::string& where);

/// Appends one field, in quotes if it needs them.
void append_csv_field(std::string& out, std::string_view field);

/// Appends a line.
void append_csv_row(std::string& out, const std::vector<std::string>& fields);

}  // namespace lengthwise
