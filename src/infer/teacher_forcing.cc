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

void score_targets(Scorer& scorer, const TokenSet& set, std::span<const int64_t> examples,
                   const std::function<void(int64_t example, const ScoredTargets& scored)>& visit,
                   const std::function<void(int64_t)>& progress, int64_t token_budget) {
  const ScoringPass pass(scorer);
  int64_t done = 0;
  for (const std::vector<int64_t>& run :
       cut_by_tokens(set, examples, token_budget > 0 ? token_budget : scorer.token_budget())) {
    const Batch batch = make_batch(set, run, {}, {.placing = scorer.placing()});
    const TargetScores result = scorer.score(batch);
    const at::Tensor losses = result.losses.to(at::kDouble);
    const auto* offset = batch.target_offsets.const_data_ptr<int64_t>();
    for (size_t i = 0; i < run.size(); ++i) {
      const int64_t first = offset[i];
      const auto count = static_cast<size_t>(offset[i + 1] - first);
      visit(run[i], {{losses.const_data_ptr<double>() + first, count},
                     {result.best.const_data_ptr<int64_t>() + first, count},
                     {batch.targets.const_data_ptr<int64_t>() + first, count}});
    }
    done += std::ssize(run);
    if (progress) progress(done);
  }
}

std::vector<ExampleScore> score_examples(Scorer& scorer, const TokenSet& set, std::span<const int64_t> examples,
                                         const std::function<void(int64_t)>& progress, int64_t token_budget) {
  std::vector<ExampleScore> scores;
  scores.reserve(examples.size());
  const auto add = [&](int64_t, const ScoredTargets& scored) {
    ExampleScore score;
    for (size_t t = 0; t < scored.targets.size(); ++t) {
      const bool right = scored.best[t] == scored.targets[t];
      score.correct += right ? 1 : 0;
      score.loss += scored.losses[t];
      if (score.chosen >= 0) continue;
      if (right) {
        ++score.agreed;
      } else {
        score.chosen = static_cast<int32_t>(scored.best[t]);
      }
    }
    score.targets = static_cast<int32_t>(scored.targets.size());
    score.exact = score.correct == score.targets;
    scores.push_back(score);
  };
  score_targets(scorer, set, examples, add, progress, token_budget);
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
