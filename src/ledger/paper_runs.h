#pragma once
/// The runs of a ledger that belong into the founding study's table, by its cells.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ledger/entry.h"

namespace lengthwise {

/// One encoding on one split.
struct PaperCell {
  std::vector<double> longer;   ///< accuracy on longer lengths, one per seed
  std::vector<double> trained;  ///< on the training lengths, where there are such examples

  double longer_mean() const;
  double longer_deviation() const;  ///< of a sample; 0 for one seed
  double trained_mean() const;
};

/// The entries must outlive it.
class PaperRuns {
 public:
  /// Takes the weights chosen by validation. Runs of other tasks or encodings, and those with a scratchpad, are left
  /// out. UserError when a run is there twice, when two differ in an option of the recipe, and when none is left.
  explicit PaperRuns(const std::vector<LedgerEntry>& entries);

  /// The study's, in its order.
  const std::vector<std::string>& splits() const { return splits_; }
  const std::map<std::pair<std::string, std::string>, PaperCell>& cells() const { return cells_; }
  const PaperCell* cell(const std::string& split, const std::string& encoding) const;

  const std::vector<const LedgerEntry*>& runs() const { return runs_; }
  size_t left_out() const { return left_out_; }

  /// Accuracies of the five encodings, in their published order, for each split and seed that has them all.
  struct Query {
    std::string split;
    std::vector<double> accuracies;
  };
  std::vector<Query> queries() const;

 private:
  using Key = std::vector<std::string>;  ///< split, encoding, seed

  void add(const LedgerEntry& entry);

  std::vector<std::string> splits_;
  std::map<Key, const LedgerEntry*> by_key_;
  std::map<std::pair<std::string, std::string>, PaperCell> cells_;
  std::vector<const LedgerEntry*> runs_;
  size_t left_out_ = 0;
};

}  // namespace lengthwise
