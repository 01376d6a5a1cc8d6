#pragma once
/// The examples of a task: every one a pure function of (task, style, data seed, split, index).
///
/// Training and validation are one pool, planned over the training lengths, put into random order and cut: the first
/// train_count examples are for training, the rest (or the validation_count that follow) for validation. Without a
/// validation_count the pool is planned with floor(1.15 * train_count - epsilon) examples, as in the study. The test
/// set is planned over the test lengths and stays in the order of its bins; where the plan has more than test_count, a
/// random choice of them is taken.
///
/// A plan divides equally and rounds down, so that a split may be a little smaller than asked for. It is planned larger
/// and cut only where rounding would cost examples of the training set, examples of a validation set whose count was
/// given, or a whole bin of the test set.
///
/// Some tasks have only so many problems of a length (scan, copy-rdc). Where the pool has fewer than were asked for,
/// validation keeps a tenth of it, or what it was to have if that is less, and training has the rest. (Version 1 of the
/// data gave training all it asked for, and left no validation set.)
///
/// Random numbers: `Rng(seed).stream("train")` or `("test")`, then a stream for each bin named LENGTH-FIRST-SECOND;
/// the order of the pool and the choice of test examples have streams of their own.
#include "data/example_source.h"

namespace lengthwise {

class TaskSource : public ExampleSource {
 public:
  /// `data` must have a task and no corpus. Throws UserError when the task cannot draw such lengths.
  explicit TaskSource(const ResolvedData& data);

  int64_t count(Split split) const override;
  void get(Split split, int64_t index, Example& out) const override;

 private:
  /// Bins laid end to end; position p of the whole is example p - begin[b] of the bin b that holds it.
  struct Plan {
    Plan(const Task& task, LengthRange lengths, int64_t count, std::optional<int64_t> at_least, Split planned, Rng rng);
    int64_t size() const { return begin.back(); }

    Split split;
    std::vector<Bin> bins;       ///< none is empty
    std::vector<int64_t> begin;  ///< [bin + 1]
    std::vector<Rng> streams;    ///< [bin]
  };

  void generate(const Plan& plan, int64_t position, Example& out) const;

  const Task& task_;
  Style style_;
  int64_t version_ = 0;
  Plan pool_;
  Plan test_;
  std::vector<uint32_t> pool_order_;
  std::vector<uint32_t> test_order_;  ///< empty: all of them in order
  int64_t train_count_ = 0;
  int64_t validation_count_ = 0;
  int64_t test_count_ = 0;
};

/// What the configuration of a run says of the way its data are drawn: nothing where all versions draw the same, and
/// nothing for the first, which runs used that said nothing. So old runs are found to be the same where they are.
std::optional<int64_t> version_to_save(const ResolvedData& data);

}  // namespace lengthwise
