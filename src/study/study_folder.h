#pragma once
/// The folder of a study: study.toml (a copy of the file), study.json, runs/NAME, and replaced/NAME-N for runs whose
/// configuration the file has changed. Nothing is ever deleted.
#include <filesystem>
#include <string>
#include <vector>

#include "study/plan.h"

namespace lengthwise {

std::filesystem::path run_path(const std::filesystem::path& study, const StudyRun& run);

/// Makes the folder ready for the plan and says what was done, a line each:
///   - a run whose configuration differs from the one now asked for goes to replaced/, unless someone works on it;
///   - a run that is asked for under a new name is given it, also back from replaced/;
///   - runs that are no longer asked for stay where they are.
/// UserError when the folder holds something else or a study of another name, NewerRun when a newer program made one of
/// the runs: both leave it as it was.
std::vector<std::string> open_study(const std::filesystem::path& study, const StudyPlan& plan);

/// The name under which this process makes a folder that will be called `path`.
std::filesystem::path part_folder(const std::filesystem::path& path);

/// Removes what was left of such folders in `parent` whose names begin with `start`, unless somebody holds their lock.
void remove_left_folders(const std::filesystem::path& parent, const std::string& start = "");

/// How the run saved in a folder differs from the one asked for, or why its configuration cannot be read; "" when they
/// are the same. NewerRun when a program that knows more wrote it.
std::string difference_or_damage(const std::filesystem::path& run, const TrainConfig& config);

/// Moves the folder of a run to replaced/ and gives the name it has there; "" when someone works on it.
std::string put_aside(const std::filesystem::path& study, const std::string& name);

/// Moves a run's folder to replaced/ if its configuration is not the one asked for, and says so; "" when there was no
/// need, or when someone works on it.
std::string replace_changed(const std::filesystem::path& study, const StudyRun& run);

}  // namespace lengthwise
