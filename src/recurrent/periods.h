#pragma once
/// The clock periods of a clockwork network.
#include <cstdint>
#include <string>
#include <vector>

namespace lengthwise {

/// Of `1,2,4`: whole numbers from 1 on, each more than the last. UserError otherwise.
std::vector<int64_t> read_periods(const std::string& text);
std::string periods_text(const std::vector<int64_t>& periods);

/// 1, 2, 4, ..., 32: twice as long from module to module, up to about the length of the tasks' short sequences.
std::vector<int64_t> usual_periods();

/// Whether a module of this period is computed at this time.
constexpr bool ticks(int64_t period, int64_t time) {
  return time % period == 0;
}

}  // namespace lengthwise
