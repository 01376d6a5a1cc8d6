#pragma once
/// One run folder, read back.
#include <filesystem>
#include <string>
#include <vector>

#include "results/stored_run.h"

namespace lengthwise {

struct LoadOptions {
  std::string weights = "best";        ///< or `last`: whose rows of eval.jsonl count
  bool curves = false;                 ///< keep what metrics.jsonl says
  bool examples = false;               ///< read examples.jsonl
  std::vector<std::string> tune = {};  ///< options that are chosen by validation, beside those that study.json names
};

/// Whether this is a folder that `lengthwise train` made, as far as one can tell.
bool is_run_folder(const std::filesystem::path& folder);

/// Reads what is there into `run`, whose `folder` is set. The run is `finished` if summary.json is there; otherwise its
/// state stays what it is. A file that is damaged makes it `damaged` with a reason, so that one bad run does not hide
/// the others: one that is not what summary.json has the checksum of or, in runs without checksums, one that is not
/// complete or contradicts the others. Files that only training needs may be missing.
void read_run(const LoadOptions& options, StoredRun& run);

}  // namespace lengthwise
