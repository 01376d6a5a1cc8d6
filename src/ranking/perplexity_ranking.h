#pragma once
/// Runs on text, ranked by perplexity at the trained context and at longer ones.
#include <cstdint>
#include <string>
#include <vector>

#include "results/score.h"

namespace lengthwise {

/// What one encoding has at one context.
struct ContextPlace {
  int64_t seeds = 0;  ///< 0: not measured
  double nats = 0;    ///< per token, mean over seeds
  double least = 0;   ///< among the seeds
  double most = 0;
  int64_t rank = 0;  ///< from 1, by nats; 0 where it was not measured

  double perplexity() const;
  /// One more seed.
  void add(double seed_nats);
  /// `3.74 (3.73-3.75)` with three digits: perplexities of the mean, the least and the most; "" where it was not
  /// measured.
  std::string cell() const;
};

struct PerplexityRanking {
  std::string split;
  int64_t trained = 0;            ///< context of training
  std::vector<int64_t> contexts;  ///< of the test text, ascending
  struct Row {
    std::string encoding;
    std::string label;                 ///< of the encoding in prose
    std::vector<ContextPlace> places;  ///< [context]
    double mean_rank = 0;              ///< over contexts longer than the trained one, or all where none is
  };
  std::vector<Row> rows;  ///< by mean rank
};

/// The head of a column: `1024 (2x)`.
std::string context_heading(int64_t context, int64_t trained);

/// Of the category `text`, with a known context of training.
bool is_text(const Score& score);

/// Takes the runs on text out of `scores`: what is asked of them is perplexity, not exact match.
std::vector<Score> take_text(std::vector<Score>& scores);

/// One for each split of runs on text; others are left aside.
std::vector<PerplexityRanking> rank_perplexity(const std::vector<Score>& scores);

/// A table of each, with contexts as multiples of the trained one.
std::string perplexity_tables(const std::vector<PerplexityRanking>& rankings);

/// A sentence for each split: which encoding ranks best at longer contexts, and how far it is ahead at the longest that
/// both have. Empty where no split has two encodings or a longer context.
std::string perplexity_answer(const std::vector<PerplexityRanking>& rankings);

}  // namespace lengthwise
