#include "study/forecast.h"

#include <map>

#include "model/architectures.h"

namespace lengthwise {

Forecast::Forecast(const StudyPlan& plan, int64_t jobs) : jobs_(static_cast<double>(jobs)) {
  std::map<std::string, size_t> kinds;
  for (const StudyRun& run : plan.runs) {
    TrainConfig like = run.config;
    like.seed = 0;
    like.model.encoding.clear();
    like.model.encoding_options = {};
    kind_.push_back(kinds.try_emplace(run_identity(like), kinds.size()).first->second);
    work_.push_back(rough_work(run.config));
    selected_.push_back(run.selected);
  }
}

std::optional<double> Forecast::whole_run(size_t run, const std::vector<BoardEntry>& entries) const {
  double seconds = 0;
  double runs = 0;
  double all_seconds = 0;
  double all_work = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    const RunRecord& record = entries[i].record;
    if (record.state == RecordState::finished && record.seconds > 0) {
      all_seconds += record.seconds;
      all_work += work_[i];
      if (kind_[i] != kind_[run]) continue;
      seconds += record.seconds;
      runs += 1;
    } else if (entries[i].run_seconds > 0 && record.step > entries[i].first_step) {
      all_seconds += entries[i].run_seconds;
      all_work += work_[i] * static_cast<double>(record.step - entries[i].first_step) /
                  static_cast<double>(std::max<int64_t>(1, record.steps));
    }
  }
  if (runs > 0) return seconds / runs;
  if (all_work > 0) return all_seconds / all_work * work_[run];
  return std::nullopt;
}

std::optional<double> Forecast::seconds_left(size_t run, const std::vector<BoardEntry>& entries) const {
  const BoardEntry& entry = entries[run];
  if (entry.record.final()) return 0;
  const auto steps = static_cast<double>(std::max<int64_t>(1, entry.record.steps));
  const double left = (steps - static_cast<double>(entry.record.step)) / steps;
  if (entry.record.state == RecordState::running && entry.here && entry.record.step > entry.first_step)
    return entry.run_seconds / static_cast<double>(entry.record.step - entry.first_step) * left * steps;
  const std::optional<double> whole = whole_run(run, entries);
  return whole ? std::optional(*whole * left) : std::nullopt;
}

std::optional<double> Forecast::seconds_left(const std::vector<BoardEntry>& entries) const {
  double sum = 0;
  double longest = 0;
  for (size_t run = 0; run < entries.size(); ++run) {
    if (!selected_[run]) continue;
    const std::optional<double> left = seconds_left(run, entries);
    if (!left) return std::nullopt;
    sum += *left;
    longest = std::max(longest, *left);
  }
  return std::max(sum / jobs_, longest);
}

uint64_t disk_bytes(const TrainConfig& config, Keep keep) {
  constexpr uint64_t kBytesPerParameter = 4 + 4 + 3 * 4;  // best, last, and values with two moments
  constexpr uint64_t kSmallFiles = 200'000;
  if (keep == Keep::results) return kSmallFiles;
  return static_cast<uint64_t>(count_parameters(config.model)) * kBytesPerParameter + kSmallFiles;
}

double scheduled_seconds(const std::vector<double>& seconds, int64_t jobs) {
  std::vector<double> busy(static_cast<size_t>(std::max<int64_t>(1, jobs)), 0.0);
  for (const double one : seconds) *std::min_element(busy.begin(), busy.end()) += one;
  return *std::max_element(busy.begin(), busy.end());
}

}  // namespace lengthwise
