#pragma once
/// A study of a few seconds, and ways to look at what it leaves.
#include <atomic>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "core/files.h"
#include "core/json.h"
#include "study/run_study.h"
#include "study/study_folder.h"

namespace lengthwise {

inline const std::string kSmallRun = R"(
task = "sort"
train-lengths = "1:3"
test-lengths = "4:5"
train-count = 600
test-count = 60
layers = 1
width = 32
heads = 2
dropout = 0.1
batch-size = 16
lr = 3e-3
steps = 24
validate-every = 6
checkpoint-every = 4
validation-portion = 0.5
)";

inline StudyPlan small_plan(const std::string& lists) {
  return plan_study(parse_study("name = 'small'\n" + lists + kSmallRun, "small.toml"));
}

/// Remembers what it was told.
class RememberingWatcher : public StudyWatcher {
 public:
  void line(const std::string& text) override { lines += text + "\n"; }
  void show(const std::vector<BoardEntry>& entries) override {
    ++shown;
    last = entries;
    if (on_show) on_show(entries);
  }

  std::string lines;
  int shown = 0;
  std::vector<BoardEntry> last;
  std::function<void(const std::vector<BoardEntry>&)> on_show;
};

struct StudyOutcome {
  std::vector<std::string> messages;
  std::vector<BoardEntry> entries;

  std::map<std::string, RecordState> states(const StudyPlan& plan) const {
    std::map<std::string, RecordState> result;
    for (size_t i = 0; i < entries.size(); ++i) result[plan.runs[i].name] = entries[i].record.state;
    return result;
  }
};

inline StudyOutcome carry_out(const std::filesystem::path& study, const StudyPlan& plan, int64_t jobs,
                              RememberingWatcher& watcher, const std::atomic<bool>& stop = false) {
  StudyOutcome outcome;
  outcome.messages = open_study(study, plan);
  outcome.entries = run_study(plan, study, {.jobs = jobs, .threads = jobs}, watcher, [&] { return stop.load(); });
  return outcome;
}

inline StudyOutcome carry_out(const std::filesystem::path& study, const StudyPlan& plan, int64_t jobs = 1) {
  RememberingWatcher watcher;
  return carry_out(study, plan, jobs, watcher);
}

/// The bytes of every file that must not depend on interruptions, jobs or processes, by path.
inline std::map<std::string, std::string> results_of(const std::filesystem::path& study) {
  std::map<std::string, std::string> files;
  for (const auto& run : std::filesystem::directory_iterator(study / "runs")) {
    for (const char* name :
         {"vocabulary.json", "metrics.jsonl", "best.safetensors", "last.safetensors", "eval.jsonl", "summary.json"}) {
      const std::filesystem::path path = run.path() / name;
      if (std::filesystem::exists(path)) files[run.path().filename().string() + "/" + name] = read_file(path);
    }
  }
  return files;
}

/// Changes an option in a run's config.json, or takes it out where there is no value, as its own program would have.
inline void change_option(const std::filesystem::path& run, const std::string& option, const Json& value) {
  Json config = parse_json(read_file(run / "config.json"), "config.json");
  if (value.is_null()) {
    config["options"].erase(option);
  } else {
    config["options"][option] = value;
  }
  if (config.contains("checksum")) seal(config);
  write_file(run / "config.json", json_text(config, 2) + "\n");
}

inline nlohmann::json study_json_of(const std::filesystem::path& study) {
  return nlohmann::json::parse(read_file(study / "study.json"));
}

}  // namespace lengthwise
