#pragma once
/// From a study file to the runs it asks for: one for each combination of entries of its axes, the first axis slowest.
#include <functional>
#include <string>
#include <vector>

#include "study/study_file.h"
#include "train/train_config.h"

namespace lengthwise {

struct StudyRun {
  std::string name;                 ///< of its folder: the labels of its entries joined by `-`
  std::vector<std::string> labels;  ///< one per axis
  TrainConfig config;               ///< complete: nothing is left to defaults
  std::string device_note;          ///< why the GPU's fused kernels do not run it; empty otherwise
  bool selected = true;             ///< to be done; otherwise it is left as it is (select_runs.h)
};

struct StudyPlan {
  std::string name;
  std::string title;
  std::string text;                  ///< of the file
  std::vector<std::string> axes;     ///< names
  std::vector<std::string> varying;  ///< options
  std::vector<std::string> tune;     ///< of those, the ones whose best value is chosen
  std::vector<StudyRun> runs;

  /// What a run is about besides its encoding or architecture and its seed: its other labels, or the task's name.
  std::string split_of(const StudyRun& run) const;
};

/// Everything but the runs.
StudyPlan empty_plan(const StudyFile& file);

/// The runs with what the file says of them alone: what it leaves open is left open in their configurations. Names are
/// safe as file names, and no two are equal.
std::vector<StudyRun> expand_study(const StudyFile& file);

/// Checks every configuration as a whole; a mistake in one is a UserError that names the run. `select` is called before
/// that (select_runs.h): the weights that a run begins with need not be there if it is not selected.
StudyPlan plan_study(const StudyFile& file, const std::function<void(StudyPlan&)>& select = nullptr);

/// `a, b, c and 9 more`.
std::string some_names(std::vector<std::string> names);

/// Which of the selected runs are not on the GPU that is there, and why: a line for each reason.
std::vector<std::string> device_notes(const StudyPlan& plan);

/// The text that two configurations share exactly when they give the same results.
std::string run_identity(const TrainConfig& config);

/// The same for data sets.
std::string data_identity(const DataConfig& config);

/// Roughly in proportion to the time a run takes; good enough to begin with the long ones.
double rough_work(const TrainConfig& config);

/// The order to work in: runs with equal data follow each other, so that few data sets are in memory, and the longest
/// ones come first, so that the last jobs end together. Indices into plan.runs, of the selected ones.
std::vector<size_t> working_order(const StudyPlan& plan);

}  // namespace lengthwise
