#pragma once
/// A comparison as tables for a document: the ranking, how far each encoding gets, and what it costs.
#include <string>

#include "ranking/comparison.h"
#include "results/load_results.h"

namespace lengthwise {

/// `results` may be empty, as of a comparison of anybody's table: then nothing is known of costs.
std::string comparison_markdown(const Results& results, const Comparison& comparison);

/// The document with these tables between its two marks instead of whatever stands there; UserError where it lacks
/// them.
std::string with_comparison(const std::string& document, const std::string& tables, const std::string& where);

}  // namespace lengthwise
