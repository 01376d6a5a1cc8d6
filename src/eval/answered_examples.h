#pragma once
/// A few answers of a trained model to look at: examples.jsonl (docs/formats.md).
#include <string>

#include "eval/evaluate.h"

namespace lengthwise {

/// At each of the first three lengths past `train_limit`, four test examples, answered by greedy generation: two that
/// the model gets right and two that it does not, as far as the first 48 examples of that length hold so many. One JSON
/// object a line.
std::string answered_examples(Model& model, Scorer& scorer, const Vocabulary& vocabulary, const TokenSet& test,
                              int64_t train_limit, const EvaluationOptions& options);

/// The longest length of a set; 0 if it is empty.
int64_t longest_length(const TokenSet& set);

}  // namespace lengthwise
