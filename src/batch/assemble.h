#pragma once
/// From a data set's token array to batches.
#include <cstdint>
#include <span>
#include <vector>

#include "batch/batch.h"
#include "core/rng.h"
#include "data/placing.h"
#include "data/token_set.h"

namespace lengthwise {

/// By which rules besides the index the tokens of a batch are placed.
struct BatchPlacing {
  const Placing* placing = nullptr;  ///< null: by none
  const Rng* rng = nullptr;          ///< the run's, in training
  int64_t step = 0;                  ///< in training
};

/// The batch of the given examples, in that order. `starts` gives each sequence's first position; empty: 0.
Batch make_batch(const TokenSet& set, std::span<const int64_t> examples, std::span<const int64_t> starts = {},
                 const BatchPlacing& by = {});

/// Which examples step `step` of training sees: an epoch is a permutation that depends on the seed and the epoch alone,
/// so every encoding of a comparison sees the same batches in the same order, and a resumed run continues exactly.
class EpochOrder {
 public:
  EpochOrder(int64_t examples, int64_t batch_size, uint64_t seed);

  /// `batch_size` examples; the last batch of an epoch is filled from the next epoch.
  std::span<const int64_t> examples_of(int64_t step);

  /// All examples in the order of an epoch.
  const std::vector<int64_t>& epoch(int64_t epoch);

  int64_t batch_size() const { return batch_size_; }

 private:
  void load(int64_t epoch);
  int64_t example_at(int64_t place);

  int64_t count_;
  int64_t batch_size_;
  Rng rng_;
  int64_t epoch_ = -1;
  std::vector<int64_t> order_;
  std::vector<int64_t> batch_;
};

/// Cuts examples into runs whose inputs hold at most `token_budget` tokens (at least one example each), in the
/// given order.
std::vector<std::vector<int64_t>> cut_by_tokens(const TokenSet& set, std::span<const int64_t> examples,
                                                int64_t token_budget);

}  // namespace lengthwise
