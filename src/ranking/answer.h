#pragma once
/// The answer of a comparison in a sentence or two, made from its numbers.
#include <string>

#include "ranking/comparison.h"

namespace lengthwise {

/// Says which encoding works best on longer sequences, by how much, and whether that could be chance. Claims nothing
/// where there is nothing to claim: no finished run, one encoding, nobody works.
std::string answer_of(const Comparison& comparison);

/// `task` where splits are tasks and nothing else, otherwise `split`.
const char* split_noun(const Comparison& comparison);

}  // namespace lengthwise
