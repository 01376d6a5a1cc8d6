#include "core/length_range.h"

#include "core/config.h"
#include "core/error.h"

namespace lengthwise {

std::string to_text(const LengthRange& range) {
  return fmt::format("{}:{}", range.low, range.high);
}

void from_text(std::string_view text, LengthRange& range) {
  constexpr int64_t kLongest = 1'000'000;
  const size_t colon = text.find(':');
  LengthRange parsed;
  try {
    from_text(text.substr(0, colon), parsed.low);
    parsed.high = parsed.low;
    if (colon != std::string_view::npos) from_text(text.substr(colon + 1), parsed.high);
  } catch (const UserError&) {
    fail("'{}' is not a range of lengths; write LOW:HIGH, for example 1:8", text);
  }
  if (parsed.low < 1 || parsed.high < parsed.low || parsed.high > kLongest) {
    fail("'{}' is not a range of lengths; LOW:HIGH needs 1 <= LOW <= HIGH <= {}", text, kLongest);
  }
  range = parsed;
}

}  // namespace lengthwise
