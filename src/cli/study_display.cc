#include "cli/study_display.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "core/progress.h"
#include "core/text.h"
#include "study/done.h"
#include "study/study_folder.h"

namespace lengthwise {
namespace {

constexpr double kSecondsBetweenTotals = 60;

struct Size {
  size_t columns = 80;
  size_t rows = 24;
};

Size terminal_size() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {size.ws_col, size.ws_row};
}

void put(const std::string& text) {
  std::fputs(text.c_str(), stderr);
}

std::string share_text(std::optional<double> share) {
  return share ? fmt::format("{:.3f}", *share) : "unknown";
}

std::string left_text(std::optional<double> seconds) {
  return seconds ? format_seconds(*seconds) + " left" : "";
}

}  // namespace

DisplayMode choose_display(bool quiet) {
  if (quiet) return DisplayMode::quiet;
  const char* terminal = std::getenv("TERM");
  const bool redrawable = terminal != nullptr && std::string_view(terminal) != "dumb" && *terminal != '\0';
  return ::isatty(STDERR_FILENO) != 0 && redrawable ? DisplayMode::terminal : DisplayMode::plain;
}

StudyDisplay::StudyDisplay(const StudyPlan& plan, std::filesystem::path study, int64_t jobs, DisplayMode mode)
    : plan_(plan), study_(std::move(study)), mode_(mode), forecast_(plan, jobs), total_shown_(Clock::now()) {
  for (const StudyRun& run : plan.runs) name_width_ = std::max(name_width_, run.name.size());
}

StudyDisplay::~StudyDisplay() {
  erase();
}

void StudyDisplay::erase() {
  if (drawn_ == 0) return;
  put(fmt::format("\033[{}A\r\033[J", drawn_));
  std::fflush(stderr);
  drawn_ = 0;
}

void StudyDisplay::line(const std::string& text) {
  if (mode_ == DisplayMode::quiet) return;
  erase();
  put(text + "\n");
  std::fflush(stderr);
}

StudyDisplay::Counts StudyDisplay::count_selected(const std::vector<BoardEntry>& entries) const {
  Counts counts;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (!plan_.runs[i].selected) continue;
    const RecordState state = entries[i].record.state;
    counts.all += 1;
    counts.running += state == RecordState::running ? 1 : 0;
    counts.finished += state == RecordState::finished ? 1 : 0;
    counts.failed += state == RecordState::failed ? 1 : 0;
  }
  return counts;
}

void StudyDisplay::tell_changes(const std::vector<BoardEntry>& entries) {
  if (last_.empty()) {
    const Counts counts = count_selected(entries);
    if (counts.finished > 0) line(fmt::format("{} of {} runs were finished already", counts.finished, counts.all));
    last_ = entries;
  }
  for (size_t i = 0; i < entries.size(); ++i) {
    if (!plan_.runs[i].selected) continue;
    const RunRecord& now = entries[i].record;
    // A run whose process died may have been taken over between two looks, and is running in both.
    const bool taken = entries[i].here && !last_[i].here;
    if (now.state == last_[i].record.state && !taken) continue;
    const std::string& name = plan_.runs[i].name;
    const std::string whose = entries[i].here ? "" : " by another process";
    if (now.state == RecordState::running && mode_ == DisplayMode::plain) {
      line(fmt::format("{}: {}{}", name, entries[i].first_step > 0 ? "resumed" : "started", whose));
    } else if (now.state == RecordState::finished) {
      const RunAccuracy result = read_accuracy(run_path(study_, plan_.runs[i]));
      line(fmt::format("{}: finished{} in {}, accuracy {} in distribution, {} on longer ones", name, whose,
                       format_seconds(now.seconds), share_text(result.in_distribution),
                       share_text(result.out_of_distribution)));
    } else if (now.state == RecordState::failed) {
      line(fmt::format("{}: failed{}: {}", name, whose, now.reason));
    }
  }
  last_ = entries;
}

std::string StudyDisplay::active_line(size_t run, const std::vector<BoardEntry>& entries) const {
  const BoardEntry& entry = entries[run];
  const RunRecord& record = entry.record;
  const double share = record.steps == 0 ? 0 : static_cast<double>(record.step) / static_cast<double>(record.steps);
  const std::string best = record.best_accuracy ? fmt::format("best {:.3f}", *record.best_accuracy) : "best -    ";
  return fmt::format("{:<{}}  {:3.0f}%  step {}/{}  {}  {}  {}", plan_.runs[run].name, name_width_, 100 * share,
                     record.step, record.steps, best, entry.here ? entry.activity : "in another process",
                     left_text(forecast_.seconds_left(run, entries)));
}

std::string StudyDisplay::total_line(const std::vector<BoardEntry>& entries) const {
  const Counts counts = count_selected(entries);
  std::string text = fmt::format("{} of {} runs finished, {} running", counts.finished, counts.all, counts.running);
  if (counts.failed > 0) text += fmt::format(", {} failed", counts.failed);
  const std::optional<double> left = forecast_.seconds_left(entries);
  if (left && counts.finished + counts.failed < counts.all) text += ", about " + left_text(left);
  return text;
}

void StudyDisplay::show(const std::vector<BoardEntry>& entries) {
  if (mode_ == DisplayMode::quiet) return;
  tell_changes(entries);
  if (mode_ == DisplayMode::plain) {
    if (std::chrono::duration<double>(Clock::now() - total_shown_).count() < kSecondsBetweenTotals) return;
    total_shown_ = Clock::now();
    line(total_line(entries));
    return;
  }
  const Size size = terminal_size();
  std::vector<std::string> block;
  for (size_t run = 0; run < entries.size(); ++run) {
    if (plan_.runs[run].selected && entries[run].record.state == RecordState::running && block.size() + 2 < size.rows)
      block.push_back(active_line(run, entries));
  }
  block.push_back(total_line(entries));
  std::string text = drawn_ == 0 ? "" : fmt::format("\033[{}A\r\033[J", drawn_);
  for (const std::string& row : block) text += row.substr(0, size.columns - 1) + "\n";
  put(text);
  std::fflush(stderr);
  drawn_ = static_cast<int64_t>(block.size());
}

}  // namespace lengthwise
