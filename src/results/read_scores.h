#pragma once
/// Anybody's results: a CSV file with the columns `split`, `encoding`, `seed`, `accuracy` and, where they mean
/// something, `category`, `scratchpad`, `tuned`, `encoding_label` and `encoding_family`, in any order; other columns
/// are ignored. One line per trained model, `accuracy` between 0 and 1. Encodings may have any names.
///
/// What `lengthwise compare DIR --csv` writes is read as well and compares as the folder did: where the columns `set`,
/// `length`, `count` and `correct` are there too, the lines of one model are put together.
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "results/score.h"

namespace lengthwise {

/// UserError `FILE:LINE: reason` for the first cell that cannot be used, and for a model that stands there twice.
std::vector<Score> parse_scores(std::string_view text, const std::string& where);

std::vector<Score> read_scores(const std::filesystem::path& path);

}  // namespace lengthwise
