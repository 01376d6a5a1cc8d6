#pragma once
/// Text that goes into a page.
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace lengthwise {

/// `&`, `<`, `>`, `"` and `'` escaped: safe as content and inside a quoted attribute.
std::string html(std::string_view text);

/// JSON that can stand inside <script>: `<`, `>` and `&` are written as \u003c and so on, invalid UTF-8 is replaced.
std::string script_json(const nlohmann::ordered_json& json);

/// Replaces every `{{name}}` by its part, once: what is put in is not looked at again. Every name must have a part.
std::string fill_template(std::string_view page, const std::map<std::string, std::string>& parts);

}  // namespace lengthwise
