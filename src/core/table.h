#pragma once
/// A small table of text for the terminal: columns are aligned, numbers to the right, and whatever the cells hold is
/// made printable (core/printable.h).
#include <string>
#include <vector>

namespace lengthwise {

class Table {
 public:
  explicit Table(std::vector<std::string> header);

  void add(std::vector<std::string> row);

  /// Lines of text with two spaces between columns and a rule under the header; ends with a newline.
  std::string to_string() const;

 private:
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace lengthwise
