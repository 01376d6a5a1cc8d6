#pragma once
/// Results as one flat table, one row per compared run and length, for pandas, R or a spreadsheet. read_scores.h reads
/// it back, and the comparison is then the same.
///
/// Columns: run, split, category, task, encoding, seed, scratchpad, tuned, train_limit (the longest length of
/// training), set (`validation` or `test`), length, longer (than any in training), count, correct, accuracy, low and
/// high (95 % Wilson interval), loss, encoding_label, encoding_family. Runs that are not finished, and repetitions,
/// have no rows.
///
/// In CSV, texts that a spreadsheet would take for formulas have an apostrophe in front (csv.h).
#include <string>
#include <string_view>

#include "results/load_results.h"

namespace lengthwise {

std::string tidy_csv(const Results& results);

/// An array of objects, one a line.
std::string tidy_json(const Results& results);

/// The same of somebody's CSV: a row per model and length without run, task, low and high, or, where only totals are
/// known, one per model: split, category, encoding, seed, scratchpad, tuned, accuracy.
std::string tidy_csv(const std::vector<Score>& scores);
std::string tidy_json(const std::vector<Score>& scores);

/// Whether a file that begins like this is such a table, of this version or an earlier one.
bool is_tidy_csv(std::string_view text);

}  // namespace lengthwise
