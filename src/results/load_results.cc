#include "results/load_results.h"

#include <algorithm>
#include <set>

#include "core/error.h"
#include "core/files.h"
#include "core/json.h"
#include "core/text.h"
#include "results/split_labels.h"
#include "tasks/registry.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;

StoredState state_of(const std::string& text) {
  for (const StoredState state :
       {StoredState::running, StoredState::finished, StoredState::failed, StoredState::unfinished}) {
    if (text == to_text(state)) return state;
  }
  return StoredState::waiting;
}

StoredRun listed_run(const fs::path& folder, const JsonObject& entry) {
  StoredRun run;
  run.name = entry.text("name");
  run.folder = folder / entry.find_text("folder").value_or("runs/" + run.name);
  run.state = state_of(entry.find_text("state").value_or(""));
  run.step = entry.find_whole("step").value_or(0);
  run.steps = entry.find_whole("steps").value_or(0);
  run.seconds = entry.find_number("seconds", 0);
  run.reason = entry.find_text("reason").value_or("");
  return run;
}

std::vector<std::string> names_at(const JsonObject& object, const char* key) {
  std::vector<std::string> names;
  if (!object.has(key)) return names;
  for (const Json& name : object.array(key)) {
    if (!name.is_string()) object.fail_at(key, "an array of texts");
    names.push_back(name.get_ref<const std::string&>());
  }
  return names;
}

/// What study.json says about options.
struct DeclaredOptions {
  std::vector<std::string> varies;
  std::vector<std::string> tune;
};

DeclaredOptions read_study(const fs::path& folder, Results& results) {
  const fs::path path = folder / "study.json";
  const Json json = parse_json(read_file(path), shown(path));
  check_seal(json, shown(path));
  const JsonObject study(json, shown(path));
  if (study.find_text("format") != "lengthwise-study") {
    fail("{} is damaged: it is not the study.json of a study", shown(path));
  }
  results.name = study.find_text("name").value_or(results.name);
  results.title = study.find_text("title").value_or("");
  for (const Json& entry : study.array("runs")) results.runs.push_back(listed_run(folder, {entry, shown(path)}));
  return {names_at(study, "varies"), names_at(study, "tune")};
}

/// Whether `lengthwise study` made the folder, with or without the study.json that says so.
bool was_study(const fs::path& folder) {
  return is_there(folder / "study.toml") && is_there(folder / ".lock") && is_folder(folder / "runs");
}

StoredRun found_run(std::string name, const fs::path& folder) {
  StoredRun run;
  run.name = std::move(name);
  run.folder = folder;
  run.state = StoredState::unfinished;
  return run;
}

/// Runs in a folder and the folders inside it. What cannot be looked into stands in the list as damaged.
void find_runs(const fs::path& root, const fs::path& folder, std::vector<StoredRun>& runs) {
  for (const fs::path& inner : list_folder(folder)) {
    try {
      if (is_link(inner) || !is_folder(inner) || inner.filename().string().starts_with(".")) continue;
      if (is_run_folder(inner)) {
        runs.push_back(found_run(inner.lexically_relative(root).string(), inner));
      } else {
        find_runs(root, inner, runs);
      }
    } catch (const UserError& error) {
      StoredRun& run = runs.emplace_back(found_run(inner.lexically_relative(root).string(), inner));
      run.state = StoredState::damaged;
      run.reason = error.what();
    }
  }
}

/// The name of a folder, however it is written.
std::string name_of(const fs::path& folder) {
  const fs::path whole = real_path(folder);
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

std::vector<StoredRun> readings_of(const std::vector<StoredRun>& runs) {
  std::vector<StoredRun> all;
  for (const StoredRun& run : runs) {
    if (run.state != StoredState::finished || run.repeats) continue;
    if (run.readings.empty()) continue;
    // All that they share; what the run itself answered and learned is not theirs.
    StoredRun common = run;
    common.is_reading = true;
    common.readings.clear();
    common.examples.clear();
    common.loss.clear();
    common.validation.clear();
    for (const Reading& reading : run.readings) {
      StoredRun& added = all.emplace_back(common);
      added.name += " read with " + reading.encoding;
      added.encoding += " read with " + reading.encoding;
      added.label += " read with " + reading.label;
      added.lengths = reading.lengths;
    }
  }
  return all;
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
  if (!is_there(folder)) fail("there is no folder {}", shown(folder));
  if (!is_folder(folder)) fail("{} is a file; a folder with runs is needed", shown(folder));
  Results results;
  results.name = name_of(folder);
  DeclaredOptions study;
  if (is_there(folder / "study.json")) {
    study = read_study(folder, results);
  } else if (was_study(folder)) {
    // Its runs alone would be compared under other names, and without what the study says of their options.
    fail("{} is a study without its study.json; the study's command writes it again, and {} can be read without it",
         shown(folder), shown(folder / "runs"));
  } else if (is_run_folder(folder)) {
    results.runs.push_back(found_run(results.name, folder));
  } else {
    find_runs(folder, folder, results.runs);
    if (results.runs.empty()) {
      fail("{} holds no runs: neither study.json nor a folder that `lengthwise train` made", shown(folder));
    }
  }
  for (StoredRun& run : results.runs) {
    if (run.state != StoredState::damaged) read_run(options, run);
  }
  check_tuned(options.tune, results.runs);
  for (const std::string& key : options.tune) {
    if (std::find(study.tune.begin(), study.tune.end(), key) == study.tune.end()) study.tune.push_back(key);
  }
  results.notes = label_runs(study.varies, study.tune, results.runs);
  mark_repetitions(results.runs);
  results.readings = readings_of(results.runs);
  return results;
}

std::vector<const StoredRun*> compared_runs(const Results& results) {
  std::vector<const StoredRun*> compared;
  for (const StoredRun& run : results.runs) {
    if (run.state == StoredState::finished && !run.repeats) compared.push_back(&run);
  }
  for (const StoredRun& reading : results.readings) compared.push_back(&reading);
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
