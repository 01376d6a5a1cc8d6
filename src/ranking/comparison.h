#pragma once
/// Everything that is said about a set of scores: ranking, accuracies with intervals, paired tests, warnings.
///
/// Intervals are 95 % percentile bootstraps over seeds and, where examples were counted, over examples; splits and
/// encodings are taken as given. With few seeds they are too narrow: the spread of three seeds, drawn with replacement,
/// is on average 18 % too small. Random numbers come from a fixed seed, so that equal scores give equal intervals.
#include <optional>
#include <string>
#include <vector>

#include "ranking/length_curve.h"
#include "ranking/reciprocal_rank.h"
#include "ranking/sign_flip.h"
#include "results/score.h"

namespace lengthwise {

struct CompareOptions {
  Ties ties = Ties::average;
  double fit = 0.9;          ///< accuracy on the training lengths below which a run did not learn them
  int64_t resamples = 1000;  ///< of the bootstrap
};

struct ComparedSplit {
  std::string name;
  std::string category;
  std::vector<std::string> seeds;
  std::optional<int64_t> train_limit;
  bool ranked = true;
};

/// One encoding on one split.
struct ComparedCell {
  size_t split = 0;
  size_t encoding = 0;
  size_t seeds = 0;
  Estimate longer;                       ///< mean over seeds
  std::optional<Estimate> trained;       ///< the same on the training lengths
  std::vector<std::string> unfit_seeds;  ///< seeds that did not fit the training lengths
  std::optional<LengthCurve> curve;      ///< where lengths are known
};

struct RankedEncoding {
  size_t encoding = 0;
  std::optional<Estimate> mrr;                           ///< none: no query has every encoding
  std::vector<std::optional<Estimate>> category_mrr;     ///< [category]
  std::optional<Estimate> longer;                        ///< mean over splits
  std::vector<std::optional<Estimate>> category_longer;  ///< [category]
  std::optional<Estimate> trained;
};

struct ComparedPair {
  size_t better = 0;  ///< the one that ranks higher
  size_t worse = 0;
  Estimate difference;  ///< mean difference in accuracy over the queries that have both
  SignFlipTest test;
  double holm = 1;  ///< p-value adjusted for the number of pairs (Holm 1979)
};

struct Comparison {
  CompareOptions options;
  std::vector<std::string> encodings;
  std::vector<std::string> categories;
  std::vector<ComparedSplit> splits;
  std::vector<ComparedCell> cells;      ///< by split, then encoding
  std::vector<RankedEncoding> ranking;  ///< best first
  std::vector<ComparedPair> pairs;      ///< by rank
  size_t queries = 0;                   ///< (split, seed) with every encoding: what the ranking is made of
  size_t dropped = 0;                   ///< (split, seed) without
  bool counted = false;                 ///< examples were counted: intervals cover them too
  bool resampled = false;               ///< there are examples or seeds to resample; otherwise intervals are empty
  std::vector<std::string> warnings;    ///< what makes a number mean less than it seems
  std::vector<std::string> notes;       ///< what to know about how the numbers were made

  const ComparedCell* cell(size_t split, size_t encoding) const;
};

Comparison compare_scores(const std::vector<Score>& scores, const CompareOptions& options);

}  // namespace lengthwise
