#pragma once
/// What encodings other than in training make of runs, as text for the terminal (`--measure-with`, `eval --encoding`).
#include <filesystem>
#include <string>
#include <vector>

#include "ranking/perplexity_ranking.h"
#include "results/load_results.h"

namespace lengthwise {

/// Of runs on text, a table for each ranking's split: what was measured in windows without overlap, encodings in the
/// ranking's order, without a rank of their own. "" where nothing was. (Readings of runs on tasks are ranked.)
std::string text_readings(const Results& results, const std::vector<PerplexityRanking>& rankings,
                          const std::string& weights);

/// Of one finished run on a task or on text, its best weights; "" where none was asked for.
std::string run_readings(const std::filesystem::path& run);

}  // namespace lengthwise
