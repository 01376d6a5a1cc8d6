#pragma once
/// One run folder, read back.
#include <filesystem>

#include "results/stored_run.h"

namespace lengthwise {

struct LoadOptions {
  std::string weights = "best";  ///< or `last`: whose rows of eval.jsonl count
  bool curves = false;           ///< read metrics.jsonl
  bool examples = false;         ///< read examples.jsonl
};

/// Whether this is a folder that `lengthwise train` made.
bool is_run_folder(const std::filesystem::path& folder);

/// Reads what is there into `run`, whose `folder` is set. The run is `finished` if summary.json is there; otherwise its
/// state stays what it is. A file that is damaged makes it `failed` with a reason, so that one bad run does not hide
/// the others.
void read_run(const LoadOptions& options, StoredRun& run);

}  // namespace lengthwise
