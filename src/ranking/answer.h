#pragma once
/// The answer of a comparison in a sentence or two, made from its numbers.
#include <string>

#include "ranking/comparison.h"

namespace lengthwise {

/// Says which encoding works best on longer sequences, by how much, whether that could be chance (p-values corrected
/// for the number of pairs), and how many runs did not fit their training lengths and what became of them. Claims
/// nothing where there is nothing to claim: no finished run, no longer test examples, one encoding, nobody works.
std::string answer_of(const Comparison& comparison);

/// `task` where splits are tasks and nothing else, otherwise `split`.
const char* split_noun(const Comparison& comparison);

}  // namespace lengthwise
