#include "report/html.h"

#include "core/error.h"
#include "core/json.h"

namespace lengthwise {

std::string html(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string script_json(const nlohmann::ordered_json& json) {
  const std::string text = json_text(json);
  std::string safe;
  safe.reserve(text.size());
  // In JSON these three stand inside strings only.
  for (const char c : text) {
    if (c == '<' || c == '>' || c == '&') {
      safe += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string fill_template(std::string_view page, const std::map<std::string, std::string>& parts) {
  std::string filled;
  while (true) {
    const size_t open = page.find("{{");
    filled += page.substr(0, open);
    if (open == std::string_view::npos) return filled;
    const size_t close = page.find("}}", open);
    LENGTHWISE_CHECK(close != std::string_view::npos, "an open {{{{ in a template");
    const std::string name(page.substr(open + 2, close - open - 2));
    const auto part = parts.find(name);
    LENGTHWISE_CHECK(part != parts.end(), "no part for {}", name);
    filled += part->second;
    page.remove_prefix(close + 2);
  }
}

}  // namespace lengthwise
