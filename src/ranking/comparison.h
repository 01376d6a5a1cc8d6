#pragma once
/// Everything that is said about a set of scores: ranking, accuracies with intervals, paired tests, warnings.
///
/// Intervals are 95 % percentile bootstraps over seeds and, where examples were counted, over the shares of right
/// answers that these allow for (resamples.h); splits and encodings are taken as given. With few seeds they are too
/// narrow: the spread of three seeds, drawn with replacement, is on average 18 % too small. Random numbers come from a
/// fixed seed, so that equal scores give equal intervals.
#include <optional>
#include <string>
#include <vector>

#include "ranking/length_curve.h"
#include "ranking/reciprocal_rank.h"
#include "ranking/sign_flip.h"
#include "ranking/tuning.h"
#include "results/score.h"

namespace lengthwise {

/// Accuracy on the training lengths below which a run did not learn them, unless another is given.
inline constexpr double kUsualFit = 0.9;
/// Up to so many, tables and charts show every encoding in full; of more, the best first and the others on request.
inline constexpr size_t kFewEncodings = 12;
/// With more encodings there are no paired tests: their number grows with the square.
inline constexpr size_t kMostPairedEncodings = 64;
/// Results (runs and, for curves, their lengths) times resamples: with more results there are fewer resamples.
inline constexpr int64_t kMostDraws = 100'000'000;
inline constexpr int64_t kFewestResamples = 100;

/// As many as asked for, or fewer where there are many results.
int64_t affordable_resamples(int64_t asked, int64_t results);

struct CompareOptions {
  Ties ties = Ties::kAverage;
  std::optional<double> fit = {};  ///< runs with less accuracy than this on the training lengths are left out
  int64_t resamples = 1000;        ///< of the bootstrap
};

struct ComparedSplit {
  std::string name;
  std::string category;
  std::vector<std::string> seeds;
  std::optional<int64_t> train_limit;  ///< the longest length of training
  bool ranked = true;                  ///< counts in the overall ranking
  bool longer = true;                  ///< some test examples are longer than any in training
  int64_t tested = 0;                  ///< test examples of all runs, where they were counted
  int64_t inside = 0;                  ///< of these: not longer than the longest of training
  bool unlimited = false;              ///< lengths are known, and nobody says how long training examples were
};

/// One encoding on one split.
struct ComparedCell {
  size_t split = 0;
  size_t encoding = 0;
  size_t seeds = 0;
  std::optional<Estimate> longer;        ///< on test examples longer than any in training, mean over seeds
  std::optional<Estimate> trained;       ///< on validation examples
  std::optional<double> inside;          ///< on test examples that are not longer; counts nowhere
  size_t without_longer = 0;             ///< seeds without an accuracy on longer lengths
  std::vector<std::string> unfit_seeds;  ///< seeds that did not fit the training lengths and count all the same
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
  double holm = 1;  ///< p-value corrected for the number of pairs (Holm 1979)
};

/// Runs of one encoding on one split that did not fit and were left out.
struct LeftOut {
  std::string split;
  std::string encoding;
  std::vector<std::string> seeds;
};

struct Comparison {
  CompareOptions options;            ///< with as many resamples as were drawn
  int64_t resamples_asked = 0;       ///< and as were asked for
  size_t runs = 0;                   ///< that were given, without those that tuning did not choose
  size_t unfit = 0;                  ///< of these: did not fit their training lengths
  std::vector<LeftOut> left_out;     ///< all of `unfit` where options.fit is given
  std::vector<TunedChoice> choices;  ///< what tuning chose, by the order of the scores
  std::vector<std::string> encodings;
  std::vector<std::string> labels;    ///< [encoding] in prose and charts, no two alike
  std::vector<std::string> families;  ///< [encoding]
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

  double fit() const { return options.fit.value_or(kUsualFit); }
  /// How an encoding is written, also one of which no run is left.
  std::string label_of(const std::string& encoding) const;
  const ComparedCell* cell(size_t split, size_t encoding) const;
  /// What was chosen for this encoding on this split; null where nothing was tuned.
  const TunedChoice* choice(const std::string& split, const std::string& encoding) const;
};

Comparison compare_scores(const std::vector<Score>& scores, const CompareOptions& options);

}  // namespace lengthwise
