#include "recurrent/periods.h"

#include "core/config.h"
#include "core/error.h"
#include "core/text.h"

namespace lengthwise {

std::vector<int64_t> read_periods(const std::string& text) {
  constexpr int64_t kLongest = 1'000'000;
  std::vector<int64_t> periods;
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    int64_t period = 0;
    try {
      from_text(trim(text.substr(at, comma - at)), period);
    } catch (const UserError&) {
      period = 0;
    }
    const int64_t least = periods.empty() ? 1 : periods.back() + 1;
    if (period < least || period > kLongest) {
      fail("--periods wants whole numbers from 1 to {}, each more than the last, as 1,2,4; not '{}'", kLongest,
           excerpt(text));
    }
    periods.push_back(period);
    at = comma + 1;
  }
  return periods;
}

std::string periods_text(const std::vector<int64_t>& periods) {
  std::vector<std::string> parts;
  for (const int64_t period : periods) parts.push_back(std::to_string(period));
  return join(parts, ",");
}

std::vector<int64_t> usual_periods() {
  return {1, 2, 4, 8, 16, 32};
}

}  // namespace lengthwise
