#pragma once
/// Who does what in a study, shared by the threads of this process and, through the study's folder, with others.
///
/// A run belongs to whoever holds the lock of its folder; a process that died holds none. study.json is read and
/// written under the lock of the study's folder, and each process writes the records of the runs it worked on and
/// passes on the others'.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "study/record.h"

namespace lengthwise {

/// A record and what this process knows beyond it.
struct BoardEntry {
  RunRecord record;
  bool here = false;       ///< this process works or worked on it
  std::string activity;    ///< of a run that is worked on here: `training`, `evaluating 40 %`
  double run_seconds = 0;  ///< since this process took it
  int64_t first_step = 0;  ///< that it was at when this process took it
};

class Board {
 public:
  /// Failed runs of earlier are waiting again if they are selected; finished ones are kept.
  Board(const StudyPlan& plan, std::filesystem::path study);

  /// The first run in working order that waits and that nobody works on; it is then running here. Empty: none now.
  std::optional<size_t> take();

  /// Someone else was quicker.
  void give_back(size_t run);

  void set_step(size_t run, int64_t step);
  void set_activity(size_t run, const std::string& activity);

  /// Training and evaluation are over.
  void finish(size_t run);
  void fail_run(size_t run, const std::string& reason);

  /// A run that was taken and stopped before its end waits again.
  void stop(size_t run);

  /// Looks at the runs of other processes and at the metrics of ours, and writes study.json if anything changed; of
  /// mere progress at most once a second.
  void refresh();

  /// Every selected run is finished or has failed.
  bool complete() const;

  std::vector<BoardEntry> entries() const;

  /// A line for the user.
  void say(const std::string& message);

  /// Those lines, and what refresh() did to run folders, since the last call.
  std::vector<std::string> take_messages();

 private:
  using Clock = std::chrono::steady_clock;
  struct Place {
    BoardEntry entry;
    bool running_here = false;
    bool elsewhere = false;  ///< someone else holds it
    double seconds_before = 0;
    Clock::time_point taken;
    Clock::time_point counted;  ///< until when machine_seconds are counted
  };

  void look_at_others(const std::map<std::string, RunRecord>& saved);
  void look_at(size_t run, const std::map<std::string, RunRecord>& saved);
  void update_times();
  void write();
  void change(size_t run, const std::function<void(Place&)>& body);

  const StudyPlan& plan_;
  std::filesystem::path study_;
  std::vector<size_t> order_;
  mutable std::mutex mutex_;
  std::vector<Place> places_;
  std::vector<std::string> messages_;
  bool changed_ = true;
  std::string written_;
  Clock::time_point written_at_;
};

}  // namespace lengthwise
