#pragma once
/// The founding study's main table made again from a ledger, as Markdown: every cell beside the published one.
#include <string>
#include <vector>

#include "ledger/entry.h"

namespace lengthwise {

/// Rows are the study's splits, columns its encodings. A cell is the accuracy over all longer lengths of the weights
/// chosen by validation: mean over seeds, standard deviation where there are several, number of seeds; below it the
/// published value, where it is known, and how many published deviations ours lies from it. Then how many cells agree,
/// mean reciprocal ranks (ties by the published row order) beside the published ones, runs that did not fit their
/// training lengths, and the time it all took.
///
/// Runs of other tasks or encodings, and those with a scratchpad, are counted and left out. UserError when a run is
/// there twice, or when two differ in an option of the recipe.
std::string paper_table(const std::vector<LedgerEntry>& entries);

/// `document` with the lines between its two marker lines replaced by `table`;
/// `where` names it in errors.
std::string with_table(const std::string& document, const std::string& table, const std::string& where);

}  // namespace lengthwise
