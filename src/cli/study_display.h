#pragma once
/// One display for all selected runs of a study, on standard error: on a terminal a block that is redrawn in place
/// below the lines of what has happened, otherwise those lines alone and, now and then, one on how far everything is.
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "study/forecast.h"
#include "study/plan.h"
#include "study/run_study.h"

namespace lengthwise {

enum class DisplayMode { quiet, plain, terminal };

/// A terminal where standard error is one that can be redrawn, otherwise plain.
DisplayMode choose_display(bool quiet);

class StudyDisplay : public StudyWatcher {
 public:
  StudyDisplay(const StudyPlan& plan, std::filesystem::path study, int64_t jobs, DisplayMode mode);
  ~StudyDisplay() override;

  void line(const std::string& text) override;
  void show(const std::vector<BoardEntry>& entries) override;

 private:
  using Clock = std::chrono::steady_clock;

  struct Counts {
    size_t all = 0;
    size_t running = 0;
    size_t finished = 0;
    size_t failed = 0;
  };

  Counts count_selected(const std::vector<BoardEntry>& entries) const;
  void tell_changes(const std::vector<BoardEntry>& entries);
  std::string active_line(size_t run, const std::vector<BoardEntry>& entries) const;
  std::string total_line(const std::vector<BoardEntry>& entries) const;
  void erase();

  const StudyPlan& plan_;
  std::filesystem::path study_;
  DisplayMode mode_;
  Forecast forecast_;
  size_t name_width_ = 0;
  std::vector<BoardEntry> last_;
  int64_t drawn_ = 0;  ///< lines of the block that stand on the terminal
  Clock::time_point total_shown_;
};

}  // namespace lengthwise
