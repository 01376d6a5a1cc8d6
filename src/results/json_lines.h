#pragma once
/// JSON objects out of files that may hold anything.
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace lengthwise {

/// UserError `NAME is damaged: ...` for what is no JSON object.
nlohmann::ordered_json parse_object(std::string_view text, const std::string& name);

/// Calls `use` with each line. A line that is no JSON object, or lacks what `use` asks for, and a last line without a
/// line feed are UserErrors `NAME:LINE: ...`; where the file is still `growing` they end the reading.
void for_each_object(std::string_view text, const std::string& name, bool growing,
                     const std::function<void(const nlohmann::ordered_json&)>& use);

}  // namespace lengthwise
