#include "results/csv.h"

#include "core/config.h"
#include "core/error.h"
#include "core/text.h"

namespace lengthwise {
namespace {

bool looks_like_formula(std::string_view text) {
  const size_t first = text.find_first_not_of('\'');
  return first != std::string_view::npos && std::string_view("=+-@\t\r\n").find(text[first]) != std::string_view::npos;
}

bool is_number(std::string_view text) {
  if (text.starts_with("+") && !text.starts_with("+-")) text.remove_prefix(1);
  double value = 0;
  try {
    from_text(text, value);
  } catch (const UserError&) {
    return false;
  }
  return true;
}

}  // namespace

CsvReader::CsvReader(std::string_view text, std::string where) : left_(text), where_(std::move(where)) {
  if (left_.starts_with("\xff\xfe") || left_.starts_with("\xfe\xff")) {
    fail("{}:1: the file is UTF-16; save it as UTF-8", where_);
  }
  if (left_.starts_with("\xef\xbb\xbf")) left_.remove_prefix(3);
  if (!take_row(header_)) fail("{} is empty; its first line must name the columns", where_);
}

bool CsvReader::next(CsvRow& row) {
  if (!take_row(row)) return false;
  if (row.fields.size() != header_.fields.size()) {
    fail("{}:{}: {} fields, but the header has {}", where_, row.line, row.fields.size(), header_.fields.size());
  }
  return true;
}

/// The next line that is not empty; false at the end.
bool CsvReader::take_row(CsvRow& row) {
  while (!left_.empty()) {
    row.line = line_;
    size_t taken = 0;
    bool more = true;
    while (more) {
      if (taken == row.fields.size()) row.fields.emplace_back();
      more = take_field(row.fields[taken++], row.line);
    }
    row.fields.resize(taken);
    if (taken > 1 || !row.fields.front().empty()) return true;
  }
  return false;
}

/// Takes a field and the comma or line end behind it; true if it was a comma.
bool CsvReader::take_field(std::string& field, int64_t begun) {
  const size_t begin = left_.find_first_not_of(" \t");
  if (begin != std::string_view::npos && left_[begin] == '"') {
    left_.remove_prefix(begin + 1);
    field = take_quoted(begun);
    const std::string_view behind = left_.substr(0, left_.find_first_of(",\n"));
    if (!trim(behind).empty()) {
      fail("{}:{}: '{}' stands behind a closing quote; a quote inside a quoted field is written twice", where_, line_,
           excerpt(trim(behind), 20));
    }
    left_.remove_prefix(behind.size());
  } else {
    const std::string_view bare = left_.substr(0, left_.find_first_of(",\n"));
    field = trim(bare);
    left_.remove_prefix(bare.size());
  }
  if (left_.empty()) return false;
  const bool comma = left_.front() == ',';
  if (!comma) ++line_;
  left_.remove_prefix(1);
  return comma;
}

std::string CsvReader::take_quoted(int64_t begun) {
  std::string field;
  while (true) {
    const size_t quote = left_.find('"');
    if (quote == std::string_view::npos) fail("{}:{}: a quote is opened and never closed", where_, begun);
    for (const char c : left_.substr(0, quote)) line_ += c == '\n' ? 1 : 0;
    field += left_.substr(0, quote);
    left_.remove_prefix(quote + 1);
    if (!left_.starts_with("\"")) return field;
    field += '"';
    left_.remove_prefix(1);
  }
}

void append_csv_field(std::string& out, std::string_view field) {
  const bool outer_space = !field.empty() && (is_space(field.front()) || is_space(field.back()));
  if (!outer_space && field.find_first_of(",\"\r\n") == std::string_view::npos) {
    out += field;
    return;
  }
  out += '"';
  for (const char c : field) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

void append_csv_row(std::string& out, const std::vector<std::string>& fields) {
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) out += ',';
    append_csv_field(out, fields[i]);
  }
  out += '\n';
}

std::string text_cell(std::string_view text) {
  return looks_like_formula(text) && !is_number(text) ? "'" + std::string(text) : std::string(text);
}

std::string_view cell_text(std::string_view cell) {
  if (cell.starts_with("'") && looks_like_formula(cell)) cell.remove_prefix(1);
  return cell;
}

}  // namespace lengthwise
