#include "results/json_lines.h"

#include <algorithm>

#include "core/error.h"

namespace lengthwise {
namespace {

using Json = nlohmann::ordered_json;

/// Nothing of ours is nested deeper than a few levels, and a reader that recurses has a stack to exhaust.
bool too_deep(std::string_view text) {
  constexpr int64_t kDeepest = 100;
  int64_t depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (quoted && text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      quoted = !quoted;
    else if (!quoted && (text[i] == '[' || text[i] == '{') && ++depth > kDeepest)
      return true;
    else if (!quoted && (text[i] == ']' || text[i] == '}'))
      --depth;
  }
  return false;
}

Json parse(std::string_view text) {
  return too_deep(text) ? Json() : Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

}  // namespace

Json parse_object(std::string_view text, const std::string& name) {
  Json json = parse(text);
  if (!json.is_object()) fail("{} is damaged: it is not a JSON object", name);
  return json;
}

void for_each_object(std::string_view text, const std::string& name, bool growing,
                     const std::function<void(const Json&)>& use) {
  for (int64_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const Json json = parse(line);
    try {
      if (!json.is_object()) fail("it is not a JSON object");
      if (end == std::string_view::npos) fail("the line has no end; the file was cut short");
      use(json);
    } catch (const std::exception& error) {
      if (growing) return;
      fail("{}:{}: {}", name, number, error.what());
    }
    text.remove_prefix(line.size() + 1);
  }
}

}  // namespace lengthwise
