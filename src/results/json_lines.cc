#include "results/json_lines.h"

#include "core/error.h"

namespace lengthwise {

void for_each_object(std::string_view text, const std::string& name, bool growing,
                     const std::function<void(const JsonObject&)>& use) {
  for (int64_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const std::string where = fmt::format("{}:{}", name, number);
    try {
      if (end == std::string_view::npos) fail("{}: the line has no end; the file was cut short", where);
      const Json json = parse_json(line, where);
      use(JsonObject(json, where));
    } catch (const UserError&) {
      if (growing) return;
      throw;
    }
    text.remove_prefix(line.size() + 1);
  }
}

}  // namespace lengthwise
