#include "results/csv.h"

#include "core/error.h"
#include "core/text.h"

namespace lengthwise {
namespace {

class CsvReader {
 public:
  CsvReader(std::string_view text, const std::string& where) : left_(text), where_(where) {
    if (left_.starts_with("\xff\xfe") || left_.starts_with("\xfe\xff")) {
      fail("{}:1: the file is UTF-16; save it as UTF-8", where_);
    }
    if (left_.starts_with("\xef\xbb\xbf")) left_.remove_prefix(3);
  }

  /// The next line that is not empty; false at the end.
  bool next(CsvRow& row) {
    while (!left_.empty()) {
      row.line = line_;
      row.fields.clear();
      bool more = true;
      while (more) more = take_field(row);
      if (row.fields.size() > 1 || !row.fields.front().empty()) return true;
    }
    return false;
  }

 private:
  /// Takes a field and the comma or line end behind it; true if it was a comma.
  bool take_field(CsvRow& row) {
    const size_t begin = left_.find_first_not_of(" \t");
    if (begin != std::string_view::npos && left_[begin] == '"') {
      left_.remove_prefix(begin + 1);
      row.fields.push_back(take_quoted(row.line));
      const std::string_view behind = left_.substr(0, left_.find_first_of(",\n"));
      if (!trim(behind).empty()) {
        fail("{}:{}: '{}' stands behind a closing quote; a quote inside a quoted field is written twice", where_, line_,
             excerpt(trim(behind), 20));
      }
      left_.remove_prefix(behind.size());
    } else {
      const std::string_view bare = left_.substr(0, left_.find_first_of(",\n"));
      row.fields.emplace_back(trim(bare));
      left_.remove_prefix(bare.size());
    }
    if (left_.empty()) return false;
    const bool comma = left_.front() == ',';
    if (!comma) ++line_;
    left_.remove_prefix(1);
    return comma;
  }

  std::string take_quoted(int64_t begun) {
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

  std::string_view left_;
  const std::string& where_;
  int64_t line_ = 1;
};

}  // namespace

CsvTable parse_csv(std::string_view text, const std::string& where) {
  CsvReader reader(text, where);
  CsvTable table;
  if (!reader.next(table.header)) fail("{} is empty; its first line must name the columns", where);
  CsvRow row;
  while (reader.next(row)) {
    if (row.fields.size() != table.header.fields.size()) {
      fail("{}:{}: {} fields, but the header has {}", where, row.line, row.fields.size(), table.header.fields.size());
    }
    table.rows.push_back(row);
  }
  return table;
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

}  // namespace lengthwise
