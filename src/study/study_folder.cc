#include "study/study_folder.h"

#include <unistd.h>

#include <map>
#include <set>

#include "core/error.h"
#include "core/files.h"
#include "core/text.h"
#include "study/record.h"
#include "train/folder_lock.h"
#include "train/run_folder.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;

/// Folders of runs under `parent`, sorted by name.
std::vector<fs::path> runs_under(const fs::path& parent) {
  std::vector<fs::path> runs;
  if (!is_folder(parent)) return runs;
  for (const fs::path& path : list_folder(parent)) {
    if (is_folder(path) && is_there(path / "config.json")) runs.push_back(path);
  }
  return runs;
}

fs::path free_place(const fs::path& study, const std::string& name) {
  make_folder(study / "replaced");
  for (int n = 1;; ++n) {
    fs::path place = study / "replaced" / fmt::format("{}-{}", name, n);
    if (!is_there(place)) return place;
  }
}

void check_owner(const fs::path& study, const StudyPlan& plan) {
  if (!is_there(study)) return;
  if (!is_folder(study)) fail("{} is a file; --out names a folder", shown(study));
  if (!is_there(study / "study.toml")) {
    for (const fs::path& path : list_folder(study)) {
      // What is written before study.toml.
      if (path.filename() == ".lock" || is_part_file(path)) continue;
      fail("{} is not empty and holds no study; choose another --out", shown(study));
    }
  }
  const std::string name = read_study_name(study / "study.json").value_or(plan.name);
  if (name != plan.name) {
    fail(
        "{} holds the study '{}', not '{}'; choose another --out, or write name = \"{}\" into the file if it is the "
        "same",
        shown(study), excerpt(name), excerpt(plan.name), excerpt(name));
  }
}

/// Before anything is changed.
void refuse_newer_runs(const fs::path& study, const StudyPlan& plan) {
  for (const StudyRun& run : plan.runs) {
    if (is_there(run_path(study, run) / "config.json")) difference_or_damage(run_path(study, run), run.config);
  }
}

/// Whether the folder could be moved: not while someone works in it.
bool move_run(const fs::path& from, const fs::path& to) {
  const std::optional<FolderLock> lock = FolderLock::try_lock(from);
  if (!lock) return false;
  move_path(from, to);
  return true;
}

/// Runs that are no longer asked for where they lie, by what they are.
std::map<std::string, fs::path> find_spare_runs(const fs::path& study, const std::set<std::string>& wanted) {
  std::map<std::string, fs::path> spare;
  for (const char* parent : {"replaced", "runs"}) {
    for (const fs::path& path : runs_under(study / parent)) {
      if (path.parent_path().filename() == "runs" && wanted.contains(path.filename().string())) continue;
      try {
        spare[run_identity(read_run_config(path))] = path;
      } catch (const UserError&) {
        // Damaged, or of a version with other options: not the run that is asked for.
      }
    }
  }
  return spare;
}

}  // namespace

fs::path run_path(const fs::path& study, const StudyRun& run) {
  return study / "runs" / run.name;
}

fs::path part_folder(const fs::path& path) {
  return path.string() + fmt::format(".{}.part", ::getpid());
}

void remove_left_folders(const fs::path& parent, const std::string& start) {
  for (const fs::path& path : list_folder(parent)) {
    const bool named = is_part_file(path) && path.filename().string().starts_with(start);
    if (named && is_folder(path) && !is_link(path) && !FolderLock::is_held(path)) remove_folder(path);
  }
}

std::string difference_or_damage(const fs::path& run, const TrainConfig& config) {
  try {
    return difference_to_saved(run, config);
  } catch (const NewerRun&) {
    throw;  // it is whole, and may be the very run that is asked for
  } catch (const UserError& error) {
    return error.what();
  }
}

std::string put_aside(const fs::path& study, const std::string& name) {
  const fs::path place = free_place(study, name);
  return move_run(study / "runs" / name, place) ? place.filename().string() : "";
}

std::string replace_changed(const fs::path& study, const StudyRun& run) {
  const fs::path path = run_path(study, run);
  if (!is_there(path / "config.json")) return "";
  const std::string difference = difference_or_damage(path, run.config);
  if (difference.empty()) return "";
  const std::optional<int64_t> version = data_version_to_go_on(path, run.config);
  const std::string place = put_aside(study, run.name);
  if (place.empty()) return "";
  return fmt::format("{} has changed ({}): the old run is now replaced/{}{}", run.name, difference, place,
                     version ? fmt::format("; with data-version = {} in the file it goes on", *version) : "");
}

std::vector<std::string> open_study(const fs::path& study, const StudyPlan& plan) {
  check_owner(study, plan);
  make_folder(study);
  const FolderLock lock = FolderLock::wait(study);
  refuse_newer_runs(study, plan);
  clear_leftovers(study);
  remove_left_folders(study);
  write_file(study / "study.toml", plan.text);
  make_folder(study / "runs");
  std::vector<std::string> messages;
  std::set<std::string> wanted;
  for (const StudyRun& run : plan.runs) {
    wanted.insert(run.name);
    const std::string message = replace_changed(study, run);
    if (!message.empty()) messages.push_back(message);
  }
  std::map<std::string, fs::path> spare = find_spare_runs(study, wanted);
  for (const StudyRun& run : plan.runs) {
    const auto found = spare.find(run_identity(run.config));
    if (found == spare.end() || is_there(run_path(study, run))) continue;
    if (!move_run(found->second, run_path(study, run))) continue;
    messages.push_back(fmt::format("{} is the run that was {}/{}", run.name,
                                   found->second.parent_path().filename().string(), found->second.filename().string()));
    spare.erase(found);
  }
  std::vector<std::string> left;
  for (const fs::path& path : runs_under(study / "runs")) {
    if (!wanted.contains(path.filename().string())) left.push_back(path.filename().string());
  }
  if (!left.empty()) {
    messages.push_back(fmt::format("no longer in the file, left as {}: {}", left.size() == 1 ? "it is" : "they are",
                                   join(left, ", ")));
  }
  return messages;
}

}  // namespace lengthwise
