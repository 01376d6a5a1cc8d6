#include "infer/teacher_forcing.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>

#include "batch/assemble.h"

namespace lengthwise {

std::vector<int64_t> all_examples(const TokenSet& set) {
  std::vector<int64_t> examples(static_cast<size_t>(set.size()));
  std::iota(examples.begin(), examples.end(), int64_t{0});
  return examples;
}

std::vector<ExampleScore> score_examples(Scorer& scorer, const TokenSet& set, std::span<const int64_t> examples,
                                         const std::function<void(int64_t)>& progress, int64_t token_budget) {
  std::vector<ExampleScore> scores;
  scores.reserve(examples.size());
  for (const std::vector<int64_t>& run :
       cut_by_tokens(set, examples, token_budget > 0 ? token_budget : scorer.token_budget())) {
    const Batch batch = make_batch(set, run, {}, {.placing = scorer.placing()});
    const TargetScores result = scorer.score(batch);
    const at::Tensor losses = result.losses.to(at::kDouble);
    const auto* loss = losses.const_data_ptr<double>();
    const auto* best = result.best.const_data_ptr<int64_t>();
    const auto* target = batch.targets.const_data_ptr<int64_t>();
    const auto* offset = batch.target_offsets.const_data_ptr<int64_t>();
    for (size_t i = 0; i < run.size(); ++i) {
      ExampleScore score;
      for (int64_t t = offset[i]; t < offset[i + 1]; ++t) {
        const bool right = best[t] == target[t];
        score.correct += right ? 1 : 0;
        score.loss += loss[t];
        if (score.chosen >= 0) continue;
        if (right) {
          ++score.agreed;
        } else {
          score.chosen = static_cast<int32_t>(best[t]);
        }
      }
      score.targets = static_cast<int32_t>(offset[i + 1] - offset[i]);
      score.exact = score.correct == score.targets;
      scores.push_back(score);
    }
    if (progress) progress(static_cast<int64_t>(scores.size()));
  }
  return scores;
}

SetScore summarize(std::span<const ExampleScore> scores) {
  SetScore total;
  int64_t targets = 0;
  for (const ExampleScore& score : scores) {
    total.exact_match += score.exact ? 1 : 0;
    total.loss += score.loss;
    targets += score.targets;
  }
  total.exact_match /= static_cast<double>(std::max<size_t>(1, scores.size()));
  total.loss /= static_cast<double>(std::max<int64_t>(1, targets));
  return total;
}

double share_of_tokens(std::span<const ExampleScore> scores) {
  int64_t correct = 0;
  int64_t targets = 0;
  for (const ExampleScore& score : scores) {
    correct += score.correct;
    targets += score.targets;
  }
  return static_cast<double>(correct) / static_cast<double>(std::max<int64_t>(1, targets));
}

}  // namespace lengthwise
