#include "core/marked_part.h"

#include "core/error.h"

namespace lengthwise {

std::string with_marked_part(const std::string& document, std::string_view begin, std::string_view end,
                             const std::string& text, const std::string& where) {
  const size_t first = document.find(begin);
  const size_t last = document.find(end);
  if (first == std::string::npos || last == std::string::npos || last < first)
    fail("{} has no place for the table: a line `{}` and a line `{}`", where, begin, end);
  return document.substr(0, first + begin.size()) + "\n\n" + text + "\n" + document.substr(last);
}

}  // namespace lengthwise
