#include "core/table.h"

#include <algorithm>

#include "core/error.h"
#include "core/printable.h"

namespace lengthwise {
namespace {

/// Characters, not bytes, so that a column with non-ASCII text lines up.
size_t width_of(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

bool looks_numeric(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789.,-+%") == std::string::npos;
}

void make_printable(std::vector<std::string>& row) {
  for (std::string& cell : row) cell = printable(cell);
}

}  // namespace

Table::Table(std::vector<std::string> header) : header_(std::move(header)) {
  make_printable(header_);
}

void Table::add(std::vector<std::string> row) {
  LENGTHWISE_CHECK(row.size() == header_.size(), "{} cells in a table of {} columns", row.size(), header_.size());
  make_printable(row);
  rows_.push_back(std::move(row));
}

std::string Table::to_string() const {
  const size_t columns = header_.size();
  std::vector<size_t> width(columns);
  std::vector<bool> right(columns, true);
  for (size_t column = 0; column < columns; ++column) {
    width[column] = width_of(header_[column]);
    for (const auto& row : rows_) {
      width[column] = std::max(width[column], width_of(row[column]));
      right[column] = right[column] && (row[column].empty() || looks_numeric(row[column]));
    }
  }
  std::string text;
  const auto write = [&](const std::vector<std::string>& row) {
    std::string line;
    for (size_t column = 0; column < columns; ++column) {
      const std::string padding(width[column] - width_of(row[column]), ' ');
      if (column > 0) line += "  ";
      line += right[column] ? padding + row[column] : row[column] + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  };
  write(header_);
  std::string rule;
  for (size_t column = 0; column < columns; ++column) {
    if (column > 0) rule += "  ";
    rule += std::string(width[column], '-');
  }
  text += rule + '\n';
  for (const auto& row : rows_) write(row);
  return text;
}

}  // namespace lengthwise
