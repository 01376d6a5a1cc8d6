#include "results/load_results.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "core/error.h"
#include "core/files.h"
#include "core/text.h"
#include "results/json_lines.h"
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

/// What study.json says about options.
struct DeclaredOptions {
  std::vector<std::string> varies;
  std::vector<std::string> tune;
};

DeclaredOptions read_study(const fs::path& folder, Results& results) {
  const fs::path path = folder / "study.json";
  const Json study = parse_object(read_file(path), path.string());
  try {
    if (value_or<std::string>(study, "format", "") != "lengthwise-study") {
      fail("{} is damaged: it is not the study.json of a study", path.string());
    }
    results.name = value_or<std::string>(study, "name", results.name);
    results.title = value_or<std::string>(study, "title", "");
    for (const Json& entry : study.at("runs")) results.runs.push_back(listed_run(folder, entry));
    return {value_or<std::vector<std::string>>(study, "varies", {}),
            value_or<std::vector<std::string>>(study, "tune", {})};
  } catch (const Json::exception& error) {
    fail("{} is damaged: {}", path.string(), error.what());
  }
}

StoredRun found_run(std::string name, const fs::path& folder) {
  StoredRun run;
  run.name = std::move(name);
  run.folder = folder;
  run.state = StoredState::unfinished;
  return run;
}

void find_runs(const fs::path& root, const fs::path& folder, std::vector<StoredRun>& runs) {
  std::vector<fs::path> folders;
  // What cannot be looked into holds nothing for us.
  std::error_code unreadable;
  for (fs::directory_iterator entry(folder, unreadable), end; !unreadable && entry != end;
       entry.increment(unreadable)) {
    std::error_code unknown;
    if (!entry->is_directory(unknown) || entry->is_symlink(unknown)) continue;
    if (!entry->path().filename().string().starts_with(".")) folders.push_back(entry->path());
  }
  std::sort(folders.begin(), folders.end());
  for (const fs::path& inner : folders) {
    if (is_run_folder(inner)) {
      runs.push_back(found_run(inner.lexically_relative(root).string(), inner));
    } else {
      find_runs(root, inner, runs);
    }
  }
}

/// The name of a folder, however it is written.
std::string name_of(const fs::path& folder) {
  std::error_code unknown;
  fs::path whole = fs::weakly_canonical(folder, unknown);
  if (unknown) whole = folder.lexically_normal();
  return whole.has_filename() ? whole.filename().string() : whole.string();
}

void check_tuned(const std::vector<std::string>& tune, const std::vector<StoredRun>& runs) {
  std::set<std::string> known;
  for (const StoredRun& run : runs) {
    for (const auto& [key, value] : run.options) known.insert(key);
  }
  for (const std::string& key : tune) {
    if (!can_be_tuned(key)) fail("--tune: '{}' is not an option to choose by validation", excerpt(key));
    if (!known.contains(key)) {
      fail("--tune: no run has an option '{}'{}", excerpt(key), did_you_mean(key, {known.begin(), known.end()}));
    }
  }
}

void mark_repetitions(std::vector<StoredRun>& runs) {
  std::set<std::vector<std::string>> seen;
  for (StoredRun& run : runs) {
    if (run.state != StoredState::finished) continue;
    run.repeats = !seen.insert({run.category, run.split, run.encoding, run.seed, run.tuned}).second;
  }
}

size_t place_of_task(const std::string& name) {
  const std::vector<std::string> names = task_names();
  return static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
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
  std::error_code unknown;
  if (!fs::exists(folder, unknown)) fail("there is no folder {}", folder.string());
  if (!fs::is_directory(folder, unknown)) fail("{} is a file; a folder with runs is needed", folder.string());
  Results results;
  results.name = name_of(folder);
  DeclaredOptions study;
  if (fs::exists(folder / "study.json", unknown)) {
    study = read_study(folder, results);
  } else if (is_run_folder(folder)) {
    results.runs.push_back(found_run(results.name, folder));
  } else {
    find_runs(folder, folder, results.runs);
    if (results.runs.empty()) {
      fail("{} holds no runs: neither study.json nor a folder that `lengthwise train` made", folder.string());
    }
  }
  for (StoredRun& run : results.runs) read_run(options, run);
  check_tuned(options.tune, results.runs);
  for (const std::string& key : options.tune) {
    if (std::find(study.tune.begin(), study.tune.end(), key) == study.tune.end()) study.tune.push_back(key);
  }
  results.notes = label_runs(study.varies, study.tune, results.runs);
  mark_repetitions(results.runs);
  return results;
}

std::vector<const StoredRun*> compared_runs(const Results& results) {
  std::vector<const StoredRun*> compared;
  for (const StoredRun& run : results.runs) {
    if (run.state == StoredState::finished && !run.repeats) compared.push_back(&run);
  }
  std::stable_sort(compared.begin(), compared.end(), [](const StoredRun* a, const StoredRun* b) {
    return place_of_task(a->task) < place_of_task(b->task);
  });
  return compared;
}

std::vector<Score> scores_of(const Results& results, std::vector<std::string>& notes) {
  for (const StoredRun& run : results.runs) {
    if (!run.repeats) continue;
    notes.push_back(fmt::format("{} repeats an earlier run of {} on {} with seed {}; the earlier one counts.", run.name,
                                run.encoding, run.split, run.seed));
  }
  std::vector<Score> scores;
  for (const StoredRun* run : compared_runs(results)) scores.push_back(run->score());
  return scores;
}

}  // namespace lengthwise
