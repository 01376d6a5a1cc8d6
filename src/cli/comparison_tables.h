#pragma once
/// A comparison as text for the terminal.
#include <string>

#include "ranking/comparison.h"

namespace lengthwise {

/// The answer, the ranking, what tuning chose, accuracies by split, paired tests, warnings and notes. `by_length` adds
/// a table of accuracies by length for every split.
std::string comparison_text(const Comparison& comparison, bool by_length);

/// The answer and the ranking alone.
std::string ranking_text(const Comparison& comparison);

}  // namespace lengthwise
