#pragma once
/// A range of task lengths, both ends included, written `LOW:HIGH` or `N`.
#include <cstdint>
#include <string>
#include <string_view>

namespace lengthwise {

struct LengthRange {
  int64_t low = 1;
  int64_t high = 1;

  bool contains(int64_t length) const { return low <= length && length <= high; }
  int64_t size() const { return high - low + 1; }
  bool operator==(const LengthRange&) const = default;
};

/// "2:20"
std::string to_text(const LengthRange& range);

/// Throws UserError unless the text is `LOW:HIGH` with 1 <= LOW <= HIGH <= 1,000,000, or one such number.
void from_text(std::string_view text, LengthRange& range);

}  // namespace lengthwise
