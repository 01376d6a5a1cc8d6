#pragma once
/// Results as one flat table, one row per run and length, for pandas, R or a spreadsheet.
///
/// Columns: run, split, category, task, encoding, seed, set (`validation`: lengths of training; `test`: longer ones),
/// length, count, correct, accuracy, low and high (95 % Wilson interval), loss. Runs that are not finished have no
/// rows.
#include <string>

#include "results/load_results.h"

namespace lengthwise {

std::string tidy_csv(const Results& results);

/// An array of objects, one a line.
std::string tidy_json(const Results& results);

/// One row per line of somebody's CSV: split, category, encoding, seed, accuracy.
std::string tidy_csv(const std::vector<Score>& scores);
std::string tidy_json(const std::vector<Score>& scores);

}  // namespace lengthwise
