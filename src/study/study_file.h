#pragma once
/// A study as a TOML file: the options of `train`, some of them lists.
///
///     name = "small"
///     model = "tiny"                                       # every run
///     task = [                                             # an axis of option sets that vary together
///       {task = "sort", train-lengths = "1:8", steps = 500},
///       {task = "copy", steps = 900},
///     ]
///     encoding = ["nope", "t5"]                            # an axis of values
///     seed = [1, 2, 3]
///
/// Every list is an axis, and a run is one choice from each. An entry is a value or a table of options; tables may also
/// be written as `[[task]]` further down, and an axis of tables that belongs to no one option is called `case`. A list
/// inside a table multiplies that entry alone. An option in a table overrides the same option outside; two axes may not
/// set the same option. A table that is no list only groups, as in a file for `train --config`.
///
/// `name` (by default the file's name), `title` and `tune` are the study's own; `tune = ["lr"]` names options that
/// lists vary in order to choose among their values, not to compare them. Everything else must be an option of `train`:
/// whatever is not, or has a value that does not fit, is a UserError with file and line.
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "train/train_config.h"

namespace lengthwise {

/// More than these are a mistake.
constexpr size_t kMostRuns = 100'000;

/// One option and where it stands.
struct Setting {
  std::string option;
  std::string text;
  int64_t line = 0;
};

/// One choice of an axis.
///
/// `label` is what it adds to the names of runs: the entry's `label`, or its value of the option the axis is called
/// after (in a `case`, of its first option), and then the values of the lists inside it, joined by `-`. It depends on
/// this entry alone, so that names stay when a list grows. A truth value reads `dedup` or `no-dedup`, an empty
/// text `no-start-from`.
struct AxisEntry {
  std::string label;
  std::vector<Setting> settings;
};

struct Axis {
  std::string name;  ///< the option it is called after, or `case`
  int64_t line = 0;
  std::vector<AxisEntry> entries;
};

struct StudyFile {
  std::string path;  ///< as the user gave it, for messages
  std::string text;
  std::string name;
  std::string title;
  std::vector<std::string> tune;  ///< options of which the best value is chosen, for each encoding and task
  std::vector<Setting> settings;  ///< of every run
  std::vector<Axis> axes;         ///< in the order of the file

  /// The options that lists speak of, in the order of the file.
  std::vector<std::string> varying() const;
};

StudyFile read_study_file(const std::filesystem::path& path);

/// `path` serves messages and the default name.
StudyFile parse_study(std::string text, const std::string& path);

/// Sets an option; UserError with file and line when it does not exist or the value does not fit.
void apply_setting(const StudyFile& file, const Setting& setting, TrainConfig& config);

}  // namespace lengthwise
