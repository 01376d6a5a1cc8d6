#pragma once
/// All runs of a folder: a study, any folder with runs somewhere inside, or a single run.
#include <filesystem>
#include <string>
#include <vector>

#include "results/read_run.h"
#include "results/stored_run.h"

namespace lengthwise {

struct Results {
  std::string name;
  std::string title;            ///< the question; may be empty
  std::vector<StoredRun> runs;  ///< in the order of study.json, otherwise by path
  std::vector<std::string> notes;

  size_t count(StoredState state) const;
};

/// UserError when there is nothing to load; a run that cannot be read is in `runs` as failed.
Results load_results(const std::filesystem::path& folder, const LoadOptions& options = {});

/// One score per finished run with test examples, by the order of the tasks in the registry. Of two runs that are the
/// same (split, encoding, seed) the first counts; `notes` says so.
std::vector<Score> scores_of(const Results& results, std::vector<std::string>& notes);

}  // namespace lengthwise
