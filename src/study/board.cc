#include "study/board.h"

#include "core/files.h"
#include "study/done.h"
#include "study/study_folder.h"
#include "train/folder_lock.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;

constexpr double kSecondsBetweenWrites = 1;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Board::Board(const StudyPlan& plan, fs::path study)
    : plan_(plan), study_(std::move(study)), order_(working_order(plan)), places_(plan.runs.size()), written_at_{} {
  const FolderLock lock = FolderLock::wait(study_);
  std::map<std::string, RunRecord> saved = read_study_json(study_ / "study.json");
  for (const StudyRun& run : plan.runs) {
    const auto found = saved.find(run.name);
    if (found != saved.end() && run.selected && found->second.state == RecordState::failed)
      found->second.state = RecordState::waiting;
  }
  look_at_others(saved);
  write();
}

void Board::look_at_others(const std::map<std::string, RunRecord>& saved) {
  for (size_t i = 0; i < places_.size(); ++i) {
    if (!places_[i].entry.here && !places_[i].entry.record.final()) look_at(i, saved);
  }
}

void Board::look_at(size_t i, const std::map<std::string, RunRecord>& saved) {
  Place& place = places_[i];
  const fs::path path = run_path(study_, plan_.runs[i]);
  RunRecord record;
  const auto found = saved.find(plan_.runs[i].name);
  if (found != saved.end()) record = found->second;
  // Of a run that was put aside since.
  if (record.state != RecordState::failed && !is_there(path / "config.json")) record = RunRecord();
  record.steps = plan_.runs[i].config.steps;
  place.elsewhere = FolderLock::is_held(path);
  if (place.elsewhere) {
    if (record.state != RecordState::running) read_metrics(path, record);
    record.state = RecordState::running;
  } else if (is_there(path / "summary.json")) {
    // Whoever had it may have worked from an older version of the file.
    const std::string message = replace_changed(study_, plan_.runs[i]);
    if (!message.empty()) messages_.push_back(message);
    const std::string damage = message.empty() ? damage_of(path) : "";
    if (!damage.empty()) {
      record.state = RecordState::failed;
      record.reason = damage;
    } else if (message.empty()) {
      if (record.state != RecordState::finished) read_metrics(path, record);
      record.state = RecordState::finished;
      record.step = record.steps;
    } else {
      record = RunRecord();
      record.steps = plan_.runs[i].config.steps;
    }
  } else if (record.state != RecordState::failed) {
    if (record.state != RecordState::waiting || found == saved.end()) read_metrics(path, record);
    record.state = RecordState::waiting;
  }
  if (record.state != RecordState::failed) record.reason.clear();
  changed_ = changed_ || record.state != place.entry.record.state;
  place.entry.record = std::move(record);
}

std::optional<size_t> Board::take() {
  const std::lock_guard guard(mutex_);
  for (const size_t i : order_) {
    Place& place = places_[i];
    if (place.elsewhere || place.running_here || place.entry.record.state != RecordState::waiting) continue;
    update_times();  // before one more shares the machine
    place.running_here = place.entry.here = true;
    place.entry.record.state = RecordState::running;
    place.entry.activity = "starting";
    place.entry.first_step = place.entry.record.step;
    place.entry.run_seconds = 0;
    place.seconds_before = place.entry.record.seconds;
    place.taken = place.counted = Clock::now();
    changed_ = true;
    return i;
  }
  return std::nullopt;
}

void Board::change(size_t run, const std::function<void(Place&)>& body) {
  const std::lock_guard guard(mutex_);
  body(places_[run]);
}

void Board::give_back(size_t run) {
  change(run, [&](Place& place) {
    place.running_here = place.entry.here = false;
    place.elsewhere = true;
    changed_ = true;
  });
}

void Board::set_step(size_t run, int64_t step) {
  change(run, [&](Place& place) {
    place.entry.record.step = step;
    // The checkpoint a run goes on from may lie before the last step its metrics speak of.
    place.entry.first_step = std::min(place.entry.first_step, step - 1);
    place.entry.activity = "training";
  });
}

void Board::set_activity(size_t run, const std::string& activity) {
  change(run, [&](Place& place) { place.entry.activity = activity; });
}

void Board::finish(size_t run) {
  change(run, [&](Place& place) {
    read_metrics(run_path(study_, plan_.runs[run]), place.entry.record);
    update_times();
    place.running_here = false;
    place.entry.record.state = RecordState::finished;
    place.entry.record.step = place.entry.record.steps;
    changed_ = true;
  });
}

void Board::fail_run(size_t run, const std::string& reason) {
  change(run, [&](Place& place) {
    update_times();
    place.running_here = false;
    place.entry.record.state = RecordState::failed;
    place.entry.record.reason = reason;
    changed_ = true;
  });
}

void Board::stop(size_t run) {
  change(run, [&](Place& place) {
    update_times();
    place.running_here = false;
    place.entry.record.state = RecordState::waiting;
    changed_ = true;
  });
}

void Board::update_times() {
  const auto running =
      std::count_if(places_.begin(), places_.end(), [](const Place& place) { return place.running_here; });
  for (Place& place : places_) {
    if (!place.running_here) continue;
    place.entry.record.machine_seconds += seconds_since(place.counted) / static_cast<double>(running);
    place.counted = Clock::now();
    place.entry.run_seconds = seconds_since(place.taken);
    place.entry.record.seconds = place.seconds_before + place.entry.run_seconds;
  }
}

void Board::refresh() {
  const std::lock_guard guard(mutex_);
  update_times();
  if (!changed_ && seconds_since(written_at_) < kSecondsBetweenWrites) return;
  const FolderLock lock = FolderLock::wait(study_);
  for (size_t i = 0; i < places_.size(); ++i) {
    if (places_[i].running_here) {
      const int64_t step = places_[i].entry.record.step;
      read_metrics(run_path(study_, plan_.runs[i]), places_[i].entry.record);
      places_[i].entry.record.step = std::max(step, places_[i].entry.first_step);
    }
  }
  look_at_others(read_study_json(study_ / "study.json"));
  write();
}

void Board::write() {
  std::vector<RunRecord> records;
  records.reserve(places_.size());
  for (const Place& place : places_) records.push_back(place.entry.record);
  std::string text = study_json(plan_, records);
  changed_ = false;
  written_at_ = Clock::now();
  if (text == written_) return;
  write_file(study_ / "study.json", text);
  written_ = std::move(text);
}

bool Board::complete() const {
  const std::lock_guard guard(mutex_);
  return std::all_of(order_.begin(), order_.end(), [&](size_t i) { return places_[i].entry.record.final(); });
}

std::vector<BoardEntry> Board::entries() const {
  const std::lock_guard guard(mutex_);
  std::vector<BoardEntry> entries;
  entries.reserve(places_.size());
  for (const Place& place : places_) entries.push_back(place.entry);
  return entries;
}

void Board::say(const std::string& message) {
  const std::lock_guard guard(mutex_);
  messages_.push_back(message);
}

std::vector<std::string> Board::take_messages() {
  const std::lock_guard guard(mutex_);
  return std::exchange(messages_, {});
}

}  // namespace lengthwise
