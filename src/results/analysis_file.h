#pragma once
/// What analyses left in the folder of a run: analysis/NAME.csv, vouched for by analysis/NAME.json (docs/formats.md).
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"

namespace lengthwise {

struct StoredAnalysis {
  std::string name;     ///< probe, similarity, ...
  std::string weights;  ///< best or last
  int64_t trained_length = 0;
  Json summary;  ///< the analysis's own object
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  ///< layers and heads counted from 1, whatever version wrote them

  /// Place of a column; UserError where there is none.
  size_t column(std::string_view wanted) const;
};

/// All of a run, by name. A damaged one, or one of a later version, is left out, and a line in `notes` says so:
/// analyses do not belong to what a run is.
std::vector<StoredAnalysis> read_analyses(const std::filesystem::path& run, std::vector<std::string>& notes);

/// One of them. UserError where it cannot be read or is not what was written.
StoredAnalysis read_analysis(const std::filesystem::path& run, const std::string& name);

}  // namespace lengthwise
