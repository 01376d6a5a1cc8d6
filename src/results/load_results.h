#pragma once
/// All runs of a folder: a study, any folder with runs somewhere inside, or a single run.
///
/// A reading of a run with another encoding (`measure-with`) is compared as one more encoding, `rope read with pi`.
///
/// Of two runs that are the same in all that is compared (split, encoding, seed, tuned values) the first counts.
#include <filesystem>
#include <string>
#include <vector>

#include "results/read_run.h"
#include "results/stored_run.h"

namespace lengthwise {

struct Results {
  std::string name;
  std::string title;                ///< the question; may be empty
  std::vector<StoredRun> runs;      ///< in the order of study.json, otherwise by path
  std::vector<StoredRun> readings;  ///< compared beside them: runs as other encodings than in training read them
  std::vector<std::string> notes;

  size_t count(StoredState state) const;
};

/// UserError when there is nothing to load; a run that cannot be read is in `runs` as damaged.
Results load_results(const std::filesystem::path& folder, const LoadOptions& options = {});

/// What is compared: finished runs without repetitions, and their readings behind them, by the order of the tasks in
/// the registry.
std::vector<const StoredRun*> compared_runs(const Results& results);

/// One score for each of them. `notes` says which runs are left out as repetitions.
std::vector<Score> scores_of(const Results& results, std::vector<std::string>& notes);

}  // namespace lengthwise
