#include "report/markdown_parts.h"

#include <set>

#include "core/printable.h"
#include "core/text.h"
#include "report/html.h"

namespace lengthwise {

std::string markdown_cell(const std::string& text) {
  std::string escaped;
  for (const char c : html(printable(text))) escaped += c == '|' ? std::string("\\|") : std::string(1, c);
  return escaped;
}

std::string markdown_row(const std::vector<std::string>& cells) {
  return "| " + join(cells, " | ") + " |\n";
}

std::string markdown_heading(const std::vector<std::string>& names, size_t texts) {
  std::string rule = "|";
  for (size_t i = 0; i < names.size(); ++i) rule += i < texts ? "---|" : "--:|";
  return markdown_row(names) + rule + "\n";
}

std::string made_where(const std::vector<const StoredRun*>& runs) {
  std::set<std::string> machines, commits;
  for (const StoredRun* run : runs) {
    if (!run->machine.empty()) machines.insert(markdown_cell(run->machine));
    if (!run->commit.empty()) commits.insert("`" + markdown_cell(run->commit) + "`");
  }
  std::string text;
  if (!machines.empty()) text += ", on " + join({machines.begin(), machines.end()}, ", ");
  if (!commits.empty()) text += ", commit " + join({commits.begin(), commits.end()}, ", ");
  return text;
}

}  // namespace lengthwise
