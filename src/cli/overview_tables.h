#pragma once
/// Tables for the terminal of a comparison of many encodings: encodings down, and what does not fit left out.
#include <string>
#include <vector>

#include "ranking/comparison.h"

namespace lengthwise {

/// How encodings are written in tables: by their names, and by their labels where names are long.
std::vector<std::string> table_names(const Comparison& comparison);

/// A line for each encoding that tables do not call by its name.
std::string abbreviations(const Comparison& comparison);

/// Accuracy on longer lengths, encodings in the order of the ranking by splits.
std::string split_overview(const Comparison& comparison);

/// Accuracy by length of every split, encodings down.
std::string length_overview(const Comparison& comparison);

/// For every category its own ranking with intervals; of many encodings the best, unless all are wanted.
std::string category_rankings(const Comparison& comparison, bool all);

}  // namespace lengthwise
