#pragma once
/// Exact match in one forward pass: greedy decoding equals the gold answer exactly when, under the gold prefix, the
/// most likely token is the gold one at every target position (end marker included).
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "data/token_set.h"
#include "model/scorer.h"

namespace lengthwise {

struct ExampleScore {
  bool exact = false;   ///< every target token was the most likely one
  int32_t targets = 0;  ///< target tokens, end marker included
  int32_t correct = 0;  ///< how many of them were the most likely
  int32_t agreed = 0;   ///< how many before the first that was not
  int32_t chosen = -1;  ///< the most likely token in that one's place: greedy decoding writes the agreed ones and this
  double loss = 0;      ///< summed cross-entropy in nats
};

/// What a scorer says of the targets of one example, in their order.
struct ScoredTargets {
  std::span<const double> losses;
  std::span<const int64_t> best, targets;
};

/// Scores examples in batches, in order: `visit` is called for each, `progress(done)` after each batch. token_budget 0:
/// the scorer's own.
void score_targets(Scorer& scorer, const TokenSet& set, std::span<const int64_t> examples,
                   const std::function<void(int64_t example, const ScoredTargets& scored)>& visit,
                   const std::function<void(int64_t)>& progress = nullptr, int64_t token_budget = 0);

/// One score per example, in order. `progress(done)` is called after each batch. token_budget 0: the scorer's own.
std::vector<ExampleScore> score_examples(Scorer& scorer, const TokenSet& set, std::span<const int64_t> examples,
                                         const std::function<void(int64_t)>& progress = nullptr,
                                         int64_t token_budget = 0);

/// All of them: 0..size-1.
std::vector<int64_t> all_examples(const TokenSet& set);

struct SetScore {
  double exact_match = 0;  ///< share of examples
  double loss = 0;         ///< mean over target tokens
};
SetScore summarize(std::span<const ExampleScore> scores);

/// Share of all target tokens that were the most likely ones.
double share_of_tokens(std::span<const ExampleScore> scores);

}  // namespace lengthwise
