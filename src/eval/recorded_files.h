#pragma once
/// The files of a finished run, and whether they are still those it wrote: `files` in summary.json (docs/formats.md).
#include <filesystem>
#include <string>
#include <vector>

#include "core/json.h"

namespace lengthwise {

/// From the name of every file that a result rests on to the checksum of its bytes.
Json record_files(const std::filesystem::path& run);

/// summary.json; UserError when it is not one, or not what was written.
Json read_summary(const std::filesystem::path& run);

/// UserError when one of these files is not what summary.json says it was. What it does not speak of, as in a run of an
/// earlier version, and a run that is not finished pass. No names: all that it speaks of, but for weights that were
/// removed since.
void check_recorded_files(const std::filesystem::path& run, const std::vector<std::string>& names = {});

}  // namespace lengthwise
