#include "core/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "core/printable.h"

namespace lengthwise {

Progress::Progress(Mode mode)
    : quiet_(mode == Mode::quiet), terminal_(::isatty(STDERR_FILENO) != 0), started_(Clock::now()), shown_{} {}

Progress::~Progress() {
  clear();
}

void Progress::clear() {
  if (!drawn_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  drawn_ = false;
}

void Progress::update(int64_t done, int64_t total, const std::string& text) {
  if (quiet_) return;
  const auto now = Clock::now();
  if (first_ < 0 || total != total_ || done < last_) {  // other work: what is left of it is not known from the last
    first_ = done;
    started_ = now;
  }
  total_ = total;
  last_ = done;
  const std::chrono::duration<double> since = now - shown_;
  if (shown_ != Clock::time_point{} && since.count() < (terminal_ ? 0.1 : 15.0) && done < total) return;
  shown_ = now;
  const double spent = std::chrono::duration<double>(now - started_).count();
  std::string left;
  if (done > first_ && done < total) {
    left = fmt::format("  {} left",
                       format_seconds(spent / static_cast<double>(done - first_) * static_cast<double>(total - done)));
  }
  const std::string line = fmt::format("{:3.0f}%  {}{}", 100.0 * static_cast<double>(done) / static_cast<double>(total),
                                       printable(text), left);
  if (terminal_) {
    std::fputs(("\r" + line + "\033[K").c_str(), stderr);
    drawn_ = true;
  } else {
    std::fputs((line + "\n").c_str(), stderr);
  }
  std::fflush(stderr);
}

void Progress::line(const std::string& text) {
  if (quiet_) return;
  clear();
  std::fputs((printable(text) + "\n").c_str(), stderr);
  std::fflush(stderr);
}

std::string format_seconds(double seconds) {
  const auto whole = static_cast<int64_t>(seconds + 0.5);
  if (whole < 60) return fmt::format("{}s", whole);
  if (whole < 3600) return fmt::format("{}m{:02}s", whole / 60, whole % 60);
  return fmt::format("{}h{:02}m", whole / 3600, whole % 3600 / 60);
}

std::string format_count(double count) {
  if (count < 1000) return fmt::format("{:.0f}", count);
  if (count < 1e6) return fmt::format("{:.1f}k", count / 1e3);
  return fmt::format("{:.1f}M", count / 1e6);
}

}  // namespace lengthwise
