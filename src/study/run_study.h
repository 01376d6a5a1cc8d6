#pragma once
/// Carries a study out: several runs at once in threads of this process, beside other processes on the same folder.
///
/// A run is taken by locking its folder. It ends finished or failed; a failure is recorded and stops no other run. Runs
/// that another process holds are left to it and looked at again: kept when it finishes them, taken over when it died.
/// Which run is done when, and by whom, does not change any result.
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "study/board.h"
#include "study/keep.h"
#include "study/plan.h"

namespace lengthwise {

struct StudyOptions {
  int64_t jobs = 1;     ///< runs at once
  int64_t threads = 0;  ///< CPU threads of all jobs together; 0: one per core
  Keep keep = Keep::all;
};

/// Threads of one job: an equal part, at least one.
int64_t threads_per_job(const StudyOptions& options);

/// Who is told. Called by the thread that called run_study alone.
class StudyWatcher {
 public:
  virtual ~StudyWatcher() = default;

  /// Something worth a line.
  virtual void line(const std::string& text) = 0;

  /// Before anything is done, then a few times a second, and once at the end. In the order of the plan.
  virtual void show(const std::vector<BoardEntry>& entries) = 0;
};

/// Works until every selected run is finished or has failed, or until `stop`, which is asked a few times a second, says
/// so: then every run saves where it is. Gives the state of all runs. The folder must have been opened with open_study.
std::vector<BoardEntry> run_study(const StudyPlan& plan, const std::filesystem::path& study,
                                  const StudyOptions& options, StudyWatcher& watcher,
                                  const std::function<bool()>& stop);

}  // namespace lengthwise
