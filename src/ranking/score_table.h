#pragma once
/// Scores laid out for comparison: split by seed by encoding.
#include <span>
#include <string>
#include <vector>

#include "results/score.h"

namespace lengthwise {

/// More than so many of either are refused: every comparison has a place for every encoding, and every encoding a
/// number in every resample.
inline constexpr size_t kMostEncodings = 5000;
inline constexpr size_t kMostCells = 20'000'000;

/// One (split, seed): a query of the ranking if every encoding is there.
struct Query {
  std::string seed;
  std::vector<const Score*> scores;  ///< [encoding]; null: there is none

  /// Every encoding has an accuracy on longer lengths.
  bool complete() const;
};

struct SplitScores {
  std::string name;
  std::string category;
  std::vector<Query> queries;  ///< one per seed, in the order of appearance
  bool ranked = true;          ///< counts in the overall ranking
  bool longer = false;         ///< some score has an accuracy on longer lengths
};

/// The scores must outlive the table.
struct ScoreTable {
  std::vector<std::string> encodings;   ///< in the usual order
  std::vector<std::string> labels;      ///< [encoding] in prose and charts, no two alike
  std::vector<std::string> families;    ///< [encoding]
  std::vector<int> published_rows;      ///< [encoding]
  std::vector<std::string> categories;  ///< in the paper's order
  std::vector<SplitScores> splits;

  size_t count_complete() const;    ///< queries of the overall ranking with every encoding
  size_t count_incomplete() const;  ///< and without, of splits with longer lengths
  size_t most_seeds() const;
};

/// Where runs with and without scratchpad stand side by side, those with one form categories of their own
/// (`reasoning, scratchpad`) and do not count overall: the study ranks encodings without scratchpad.
ScoreTable make_score_table(std::span<const Score* const> scores);

}  // namespace lengthwise
