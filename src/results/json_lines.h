#pragma once
/// Files with one JSON object a line.
#include <functional>
#include <string>
#include <string_view>

#include "core/json.h"

namespace lengthwise {

/// Calls `use` with each line, whose `where` is `NAME:LINE`. A line that is no JSON object, or lacks what `use` asks
/// for, and a last line without a line feed are UserErrors; where the file is still `growing` they end the reading.
void for_each_object(std::string_view text, const std::string& name, bool growing,
                     const std::function<void(const JsonObject&)>& use);

}  // namespace lengthwise
