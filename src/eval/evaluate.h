#pragma once
/// Accuracy by length and category of a trained model.
#include <map>
#include <string>
#include <vector>

#include "core/progress.h"
#include "data/data_set.h"
#include "eval/accuracy.h"
#include "infer/teacher_forcing.h"
#include "model/model.h"
#include "model/scorer.h"

namespace lengthwise {

/// How it is found out whether an example is right.
enum class Decoding {
  teacher_forcing,      ///< one forward pass; a whole target is right when greedy decoding would write exactly it
  greedy_where_needed,  ///< the same first; what is not exact is generated, since its answer may be right all the same
  greedy,               ///< everything is generated: as greedy_where_needed, but for rounding, and slower
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
  const Task* task = nullptr;      ///< whose answer() is compared where something is generated; null: whole targets
  int64_t max_total_tokens = 256;  ///< of prompt and what is generated
  std::string precision = "fp32";  ///< of what is generated, as for GreedyOptions
  std::string subject;             ///< what is evaluated, for the line of progress
};

/// Of a set's accuracy, that on lengths above a limit.
Accuracy longer_than(const SetAccuracy& set, int64_t limit);

/// What a data set calls for. Where a task's answer is less than the whole target, by its kind or because of a
/// scratchpad, answers are compared and generated where needed, up to 256 tokens in all, with a scratchpad 1,500, as in
/// the study. Otherwise, and for the user's own data, teacher forcing.
EvaluationOptions default_evaluation(const ResolvedData& data);

/// Whether tokens that a model wrote for an example, without the end marker, are right.
bool is_right(const Vocabulary& vocabulary, const TokenSet& set, int64_t example, std::span<const int32_t> written,
              const EvaluationOptions& options);

/// One entry per example. Losses are those under the gold prefix, whatever is generated.
struct Judgement {
  std::vector<ExampleScore> scores;
  std::vector<bool> right;
};
Judgement judge(Model& model, Scorer& scorer, const Vocabulary& vocabulary, const TokenSet& set,
                std::span<const int64_t> examples, const EvaluationOptions& options, Progress& progress);

/// Scores the given examples of a set.
SetAccuracy evaluate(Model& model, Scorer& scorer, const Vocabulary& vocabulary, const TokenSet& set,
                     std::span<const int64_t> examples, const EvaluationOptions& options, Progress& progress);

}  // namespace lengthwise
