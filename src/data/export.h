#pragma once
/// Data sets as a folder of files that anything can read.
#include <filesystem>

#include "data/data_config.h"
#include "data/remarks.h"

namespace lengthwise {

/// Writes train.jsonl, validation.jsonl and test.jsonl (jsonl.h) into a new folder, which appears whole or not at all.
/// A folder that exists is refused unless it is empty. It is written aside as FOLDER.PROCESS.part; such parts that
/// killed processes left of the same folder are removed. Returns how many examples each file holds.
SplitCounts export_data(const DataConfig& config, const std::filesystem::path& folder);

}  // namespace lengthwise
