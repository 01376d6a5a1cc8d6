#include "study/run_study.h"

#include <atomic>
#include <condition_variable>
#include <thread>

#include "core/error.h"
#include "core/files.h"
#include "core/threads.h"
#include "eval/execute_run.h"
#include "study/shared_data.h"
#include "study/study_folder.h"

namespace lengthwise {
namespace {

using namespace std::chrono_literals;

constexpr auto kBetweenLooks = 200ms;

/// Carries a run's progress to the board, and the wish to stop back.
class RunProgress : public Progress {
 public:
  RunProgress(Board& board, size_t run, bool trained, const std::atomic<bool>& stop)
      : board_(board), run_(run), trained_(trained), stop_(stop) {}

  void update(int64_t done, int64_t total, const std::string& text) override {
    if (stop_) throw Interrupted();
    if (trained_) board_.set_activity(run_, fmt::format("{} {}%", text, total == 0 ? 100 : 100 * done / total));
  }

  void line(const std::string&) override {}

  void step_done(int64_t step, int64_t steps) {
    board_.set_step(run_, step);
    trained_ = step == steps;
  }

 private:
  Board& board_;
  size_t run_;
  bool trained_;
  const std::atomic<bool>& stop_;
};

class Crew {
 public:
  Crew(const StudyPlan& plan, const std::filesystem::path& study, const StudyOptions& options, Board& board)
      : plan_(plan),
        study_(study),
        threads_(threads_per_job(options)),
        keep_(options.keep),
        board_(board),
        data_(static_cast<size_t>(options.jobs)),
        working_(options.jobs) {
    for (int64_t job = 0; job < options.jobs; ++job) threads_of_jobs_.emplace_back([this] { work(); });
  }

  ~Crew() {
    stop();
    for (std::thread& thread : threads_of_jobs_) thread.join();
  }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  void stop() {
    stop_ = true;
    changed_.notify_all();
  }

  /// Waits a little, or until a job has nothing left to do. False when none has.
  bool wait_a_little() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kBetweenLooks, [&] { return working_ == 0; });
    return working_ > 0;
  }

 private:
  void work() {
    while (!stop_ && !board_.complete()) {
      const std::optional<size_t> run = board_.take();
      if (run) {
        work_on(*run);
      } else {
        // What is left runs elsewhere, or here in other jobs; one of them may yet have to be taken over.
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, kBetweenLooks, [&] { return stop_.load(); });
      }
    }
    const std::lock_guard guard(mutex_);
    --working_;
    changed_.notify_all();
  }

  void work_on(size_t i) {
    try {
      if (execute(i)) {
        board_.finish(i);
      } else {
        board_.give_back(i);
      }
    } catch (const RunBusy&) {
      board_.give_back(i);
    } catch (const Interrupted&) {
      board_.stop(i);
    } catch (const UserError& error) {
      board_.fail_run(i, error.what());
    } catch (const std::exception& error) {
      board_.fail_run(i, "internal error: " + message_of(error));
    }
  }

  /// False when another process finished it just before.
  bool execute(size_t i) {
    StudyRun run = plan_.runs[i];
    run.config.threads = threads_;
    const std::string message = replace_changed(study_, run);
    if (!message.empty()) board_.say(message);
    const RunFolder folder = RunFolder::open(run_path(study_, run), run.config);
    if (folder.finished()) return false;
    RunProgress progress(board_, i, is_there(folder.file("last.safetensors")), stop_);
    const PreparedRun prepared = prepare_run(run.config, data_.get(run.config.data, static_cast<int>(threads_)));
    execute_run(prepared, folder, progress, [&](int64_t step) { progress.step_done(step, run.config.steps); });
    if (keep_ == Keep::results) drop_weights(folder.path());
    return true;
  }

  const StudyPlan& plan_;
  const std::filesystem::path& study_;
  int64_t threads_;
  Keep keep_;
  Board& board_;
  SharedData data_;
  int64_t working_;  ///< jobs that are not at their end; guarded by mutex_
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::thread> threads_of_jobs_;
};

void tell(Board& board, StudyWatcher& watcher) {
  for (const std::string& message : board.take_messages()) watcher.line(message);
  watcher.show(board.entries());
}

}  // namespace

int64_t threads_per_job(const StudyOptions& options) {
  return std::max<int64_t>(1, threads_or_cores(options.threads) / options.jobs);
}

std::vector<BoardEntry> run_study(const StudyPlan& plan, const std::filesystem::path& study,
                                  const StudyOptions& options, StudyWatcher& watcher,
                                  const std::function<bool()>& stop) {
  Board board(plan, study);
  if (options.keep == Keep::results) {
    const size_t dropped = drop_weights_of_finished(study, plan);
    if (dropped > 0)
      board.say(fmt::format("dropped the weights of {} run{} finished earlier", dropped, dropped == 1 ? "" : "s"));
  }
  tell(board, watcher);
  {
    Crew crew(plan, study, options, board);
    while (crew.wait_a_little()) {
      if (stop()) crew.stop();
      board.refresh();
      tell(board, watcher);
    }
  }
  board.refresh();
  tell(board, watcher);
  return board.entries();
}

}  // namespace lengthwise
