#pragma once
/// Data sets as a folder of files that anything can read.
#include <filesystem>

#include "data/data_config.h"

namespace lengthwise {

struct Exported {
  int64_t train = 0;
  int64_t validation = 0;
  int64_t test = 0;
};

/// Writes train.jsonl, validation.jsonl and test.jsonl (jsonl.h) into a new folder, which appears whole or not at all.
/// A folder that exists is refused unless it is empty. Returns how many examples each file holds.
Exported export_data(const DataConfig& config, const std::filesystem::path& folder);

}  // namespace lengthwise
