#pragma once
/// Bootstrap of one split: sums over its seeds, of the runs as they are and of resamples of them.
///
/// A resample draws seeds with replacement, the same ones for all encodings, then for every run whose examples were
/// counted its share of right answers (share_sampler.h). Where runs are missing, a seed is replaced by one with the
/// same encodings, so that every resample has as many runs of each as there are. For ranks a drawn share is rounded to
/// a whole number of examples, so that runs that answer (nearly) everything or nothing may still be equal.
#include <optional>
#include <string>
#include <vector>

#include "core/rng.h"
#include "ranking/estimate.h"
#include "ranking/reciprocal_rank.h"
#include "ranking/score_table.h"

namespace lengthwise {

/// A mean and its replicates, as sums. Number 0 is the observed one, the others are resamples; all have as many terms.
class Replicates {
 public:
  explicit Replicates(size_t resamples = 0) : sums_(resamples + 1, 0.0) {}

  void add(size_t number, double sum) { sums_[number] += sum; }
  void add_terms(double terms) { terms_ += terms; }
  /// All sums and terms of the other.
  void add(const Replicates& other);
  /// The mean of the other as one term, if it has any.
  void add_mean(const Replicates& other);

  bool empty() const { return terms_ == 0; }
  double mean(size_t number) const { return sums_[number] / terms_; }
  /// None of nothing; `sign` -1 turns it round.
  std::optional<Estimate> estimate(double sign = 1) const;

 private:
  std::vector<double> sums_;
  double terms_ = 0;
};

/// [encoding a][encoding b > a]: sums of a - b over the queries that have both.
using PairReplicates = std::vector<std::vector<Replicates>>;

struct SplitReplicates {
  std::vector<Replicates> longer;      ///< [encoding], a term per seed
  std::vector<Replicates> trained;     ///< [encoding], a term per seed
  std::vector<Replicates> reciprocal;  ///< [encoding] of ranks, a term per complete query
};

/// Differences are added to `pairs` unless it is null.
SplitReplicates resample_split(const ScoreTable& table, const SplitScores& split, size_t resamples, Ties ties,
                               const Rng& rng, PairReplicates* pairs);

}  // namespace lengthwise
