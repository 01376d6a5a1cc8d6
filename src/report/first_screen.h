#pragma once
/// The parts of a report that can be read without scripts: the answer, the ranking, what to be careful about.
#include <string>

#include "ranking/comparison.h"
#include "results/load_results.h"

namespace lengthwise {

/// A table, best first: mean reciprocal rank drawn and written, by category, and accuracies.
std::string ranking_html(const Comparison& comparison);

/// "45 of 45 runs finished, 3 tasks ..."
std::string facts_html(const Results& results, const Comparison& comparison);

/// What tuning chose, as a table of encodings by splits; empty where nothing was tuned.
std::string choices_html(const Comparison& comparison);

/// Warnings, runs that are not finished or cannot be read, notes; empty when there is nothing to say.
std::string cautions_html(const Results& results, const Comparison& comparison);

/// CSS variables --e0, --e1, ... with the encodings' colours and --f0, --f1, ... with those of families, for light,
/// dark and print.
std::string colours_css(const Comparison& comparison);

}  // namespace lengthwise
