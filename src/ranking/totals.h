#pragma once
/// The aggregates that are made of one accuracy per run: of the runs as they are, or of a resample of them.
#include <vector>

#include "core/rng.h"
#include "ranking/binomial.h"
#include "ranking/reciprocal_rank.h"
#include "ranking/score_table.h"

namespace lengthwise {

/// Accuracies by [split][query][encoding]; NaN where there is no run, or where nobody counted.
using Accuracies = std::vector<std::vector<std::vector<double>>>;

struct Sample {
  Accuracies longer;
  Accuracies trained;
};

Sample observed_sample(const ScoreTable& table);

/// Draws resamples. In every split, seeds are drawn with replacement, the same for all encodings; then, where examples
/// were counted, the examples of each run. Where runs are missing, a seed is replaced by one with the same encodings,
/// so that every resample has as many runs of each as there are.
class Resampler {
 public:
  explicit Resampler(const ScoreTable& table);

  Sample draw(Rng rng) const;

 private:
  struct Cell {
    double accuracy = 0;
    BinomialSampler longer{0, 0};
    int64_t longer_count = 0;
    BinomialSampler trained{0, 0};
    int64_t trained_count = 0;
    bool present = false;
  };
  std::vector<std::vector<std::vector<Cell>>> cells_;    ///< [split][query][encoding]
  std::vector<std::vector<std::vector<size_t>>> peers_;  ///< [split][query] queries with the same encodings
};

struct Totals {
  std::vector<double> mrr;                           ///< [encoding] over all complete queries
  std::vector<double> longer;                        ///< [encoding] mean over splits
  std::vector<double> trained;                       ///< [encoding]
  std::vector<std::vector<double>> category_mrr;     ///< [category][encoding]
  std::vector<std::vector<double>> category_longer;  ///< [category][encoding]
  std::vector<std::vector<double>> split_longer;     ///< [split][encoding] mean over seeds
  std::vector<std::vector<double>> split_trained;
  std::vector<std::vector<double>> differences;  ///< [encoding a][encoding b > a] mean of a - b over queries with both
};

/// NaN wherever there is nothing to take a mean of. Overall numbers are over the ranked splits.
Totals totals_of(const ScoreTable& table, const Sample& sample, Ties ties);

/// The differences a - b over all queries of ranked splits that have both.
std::vector<double> paired_differences(const ScoreTable& table, const Accuracies& longer, size_t a, size_t b);

}  // namespace lengthwise
