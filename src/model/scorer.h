#pragma once
/// What every way of running a decoder can do: score the targets of a batch.
#include "batch/batch.h"
#include "data/placing.h"

namespace lengthwise {

/// Per target of a batch, on the CPU.
struct TargetScores {
  at::Tensor losses;  ///< [target] cross-entropy in nats
  at::Tensor best;    ///< [target] int64: the most likely token
};

class Scorer {
 public:
  virtual ~Scorer() = default;

  /// No dropout. `batch` is on the CPU, whatever device computes. The result is valid until the next call.
  virtual TargetScores score(const Batch& batch) = 0;

  /// By which rules the tokens of a batch are to be placed; nullptr: by none but the index.
  virtual const Placing* placing() const { return nullptr; }

  /// How many tokens to score at once.
  virtual int64_t token_budget() const = 0;

  /// Between these two the weights stay as they are, so that what several batches need can be kept from one to the
  /// next. Outside of them every batch stands alone.
  virtual void begin_pass() {}
  virtual void end_pass() {}
};

/// A pass over many batches, for as long as this lives.
class ScoringPass {
 public:
  explicit ScoringPass(Scorer& scorer) : scorer_(scorer) { scorer_.begin_pass(); }
  ~ScoringPass() { scorer_.end_pass(); }
  ScoringPass(const ScoringPass&) = delete;
  ScoringPass& operator=(const ScoringPass&) = delete;

 private:
  Scorer& scorer_;
};

}  // namespace lengthwise
