#pragma once
/// origin.json of a run: which program made it, where, and how long it trained (docs/formats.md). Kept apart from the
/// results, which are the same bytes wherever and however often interrupted a run was made.
#include <string>

#include "train/run_folder.h"

namespace lengthwise {

/// `device` is what the run computed on, `seconds` what training took in all.
void write_origin(const RunFolder& folder, const std::string& device, double seconds);

}  // namespace lengthwise
