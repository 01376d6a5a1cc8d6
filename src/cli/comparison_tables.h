#pragma once
/// A comparison as text for the terminal.
#include <string>

#include "ranking/comparison.h"
#include "ranking/perplexity_ranking.h"

namespace lengthwise {

struct ShownTables {
  bool by_length = false;    ///< accuracies by length of every split
  bool by_category = false;  ///< a ranking for every category
  bool all = false;          ///< of many encodings everything, as of a few
};

/// The answer, the ranking, what tuning chose, accuracies by split, paired tests, warnings and notes. Of many encodings
/// (kFewEncodings) the splits stand side by side without intervals, only the best one is paired with the others, and of
/// many warnings the first are printed. Runs on text are no part of the comparison: what their perplexity says stands
/// before it, or alone where there are no others, and with it what text_readings() says (readings_tables.h).
std::string comparison_text(const Comparison& comparison, const std::vector<PerplexityRanking>& texts,
                            const std::string& readings, const ShownTables& tables);

/// The answers and the rankings alone.
std::string ranking_text(const Comparison& comparison, const std::vector<PerplexityRanking>& texts,
                         const std::string& readings);

}  // namespace lengthwise
