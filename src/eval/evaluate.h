#pragma once
/// Accuracy by length and category of a trained model.
#include <map>
#include <string>
#include <vector>

#include "core/progress.h"
#include "data/data_set.h"
#include "eval/accuracy.h"
#include "model/decoder.h"
#include "model/scorer.h"

namespace lengthwise {

enum class Decoding {
  teacher_forcing,  ///< one forward pass; equal to greedy decoding for whole-target exact match
  greedy,           ///< real generation; needed when only the answer behind a scratchpad counts
};
std::string to_text(Decoding decoding);
void from_text(std::string_view text, Decoding& decoding);

struct SetAccuracy {
  Accuracy all;
  std::map<int64_t, Accuracy> by_length;
  std::vector<std::pair<std::string, Accuracy>> by_category;  ///< in the data's order; empty when it equals the lengths
};

struct EvaluationOptions {
  Decoding decoding = Decoding::teacher_forcing;
  const Task* task = nullptr;  ///< with a scratchpad: whose answer() is compared; null: whole targets
  int64_t max_total_tokens = 256;
};

/// What a data set calls for: greedy with the answer alone for a scratchpad (limit 1,500 tokens), otherwise teacher
/// forcing.
EvaluationOptions default_evaluation(const ResolvedData& data);

/// Scores the given examples of a set.
SetAccuracy evaluate(const Decoder& decoder, Scorer& scorer, const Vocabulary& vocabulary, const TokenSet& set,
                     std::span<const int64_t> examples, const EvaluationOptions& options, Progress& progress);

/// For each example whether generation gives the right answer.
std::vector<bool> greedy_correct(const Decoder& decoder, const Vocabulary& vocabulary, const TokenSet& set,
                                 std::span<const int64_t> examples, const EvaluationOptions& options,
                                 Progress& progress);

}  // namespace lengthwise
