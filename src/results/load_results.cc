#include "results/load_results.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "core/error.h"
#include "core/files.h"
#include "results/split_labels.h"
#include "tasks/registry.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

StoredState state_of(const std::string& text) {
  for (const StoredState state :
       {StoredState::running, StoredState::finished, StoredState::failed, StoredState::unfinished}) {
    if (text == to_text(state)) return state;
  }
  return StoredState::waiting;
}

/// null is as good as absent.
template <class T>
T value_or(const Json& object, const char* key, T fallback) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? fallback : found->template get<T>();
}

StoredRun listed_run(const fs::path& folder, const Json& entry) {
  StoredRun run;
  run.name = entry.at("name").get<std::string>();
  run.folder = folder / value_or<std::string>(entry, "folder", "runs/" + run.name);
  run.state = state_of(value_or<std::string>(entry, "state", ""));
  run.step = value_or<int64_t>(entry, "step", 0);
  run.steps = value_or<int64_t>(entry, "steps", 0);
  const double seconds = value_or<double>(entry, "seconds", -1);
  if (seconds >= 0) run.seconds = seconds;
  run.reason = value_or<std::string>(entry, "reason", "");
  return run;
}

std::vector<std::string> read_study(const fs::path& folder, Results& results) {
  const fs::path path = folder / "study.json";
  const Json study = Json::parse(read_file(path), nullptr, /*allow_exceptions=*/false);
  if (!study.is_object() || study.value("format", "") != "lengthwise-study") {
    fail("{} is damaged: it is not the study.json of a study", path.string());
  }
  try {
    results.name = value_or<std::string>(study, "name", results.name);
    results.title = value_or<std::string>(study, "title", "");
    for (const Json& entry : study.at("runs")) results.runs.push_back(listed_run(folder, entry));
    return value_or<std::vector<std::string>>(study, "varies", {});
  } catch (const Json::exception& error) {
    fail("{} is damaged: {}", path.string(), error.what());
  }
}

void find_runs(const fs::path& root, const fs::path& folder, std::vector<StoredRun>& runs) {
  std::vector<fs::path> folders;
  std::error_code unreadable;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, unreadable)) {
    if (!entry.is_directory() || entry.is_symlink() || entry.path().filename().string().starts_with(".")) continue;
    folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  for (const fs::path& inner : folders) {
    if (!is_run_folder(inner)) {
      find_runs(root, inner, runs);
      continue;
    }
    StoredRun run;
    run.name = fs::relative(inner, root).string();
    run.folder = inner;
    run.state = StoredState::unfinished;
    runs.push_back(std::move(run));
  }
}

/// The name of a folder, however it is written.
std::string name_of(const fs::path& folder) {
  const fs::path whole = fs::weakly_canonical(folder);
  return whole.has_filename() ? whole.filename().string() : whole.string();
}

size_t place_of_task(const std::string& name) {
  const std::vector<std::string> names = task_names();
  return static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

Score score_of(const StoredRun& run) {
  Score score;
  score.split = run.split;
  score.category = run.category;
  score.encoding = run.encoding;
  score.seed = run.seed;
  score.longer = run.total(false);
  score.trained = run.total(true);
  score.accuracy = score.longer.share();
  for (const LengthResult& row : run.lengths) score.lengths.push_back(row.counts);
  score.train_limit = run.train_limit;
  score.scratchpad = run.scratchpad;
  return score;
}

}  // namespace

size_t Results::count(StoredState state) const {
  return static_cast<size_t>(
      std::count_if(runs.begin(), runs.end(), [&](const StoredRun& run) { return run.state == state; }));
}

Results load_results(const fs::path& folder, const LoadOptions& options) {
  if (options.weights != "best" && options.weights != "last") {
    fail("--weights must be best or last, not '{}'", options.weights);
  }
  if (!fs::exists(folder)) fail("there is no folder {}", folder.string());
  if (!fs::is_directory(folder)) fail("{} is a file; a folder with runs is needed", folder.string());
  Results results;
  results.name = name_of(folder);
  std::vector<std::string> varies;
  if (fs::exists(folder / "study.json")) {
    varies = read_study(folder, results);
  } else if (is_run_folder(folder)) {
    StoredRun run;
    run.name = results.name;
    run.folder = folder;
    run.state = StoredState::unfinished;
    results.runs.push_back(std::move(run));
  } else {
    find_runs(folder, folder, results.runs);
    if (results.runs.empty()) {
      fail("{} holds no runs: neither study.json nor a folder that `lengthwise train` made", folder.string());
    }
  }
  for (StoredRun& run : results.runs) read_run(options, run);
  results.notes = label_runs(varies, results.runs);
  return results;
}

std::vector<Score> scores_of(const Results& results, std::vector<std::string>& notes) {
  std::vector<const StoredRun*> finished;
  for (const StoredRun& run : results.runs) {
    if (run.state != StoredState::finished) continue;
    if (run.total(false).known()) {
      finished.push_back(&run);
    } else {
      notes.push_back(fmt::format("{} has no test examples, so there is nothing to compare.", run.name));
    }
  }
  std::stable_sort(finished.begin(), finished.end(), [](const StoredRun* a, const StoredRun* b) {
    return place_of_task(a->task) < place_of_task(b->task);
  });
  std::vector<Score> scores;
  std::set<std::vector<std::string>> seen;
  for (const StoredRun* run : finished) {
    if (seen.insert({run->split, run->encoding, run->seed}).second) {
      scores.push_back(score_of(*run));
    } else {
      notes.push_back(fmt::format("{} repeats an earlier run of {} on {} with seed {}; the earlier one counts.",
                                  run->name, run->encoding, run->split, run->seed));
    }
  }
  return scores;
}

}  // namespace lengthwise
