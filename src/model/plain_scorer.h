#pragma once
/// Scores by the plain decoder, on whichever device the parameters lie: for what no fused kernels apply.
#include <shared_mutex>

#include "model/plain_decoder.h"
#include "model/scorer.h"

namespace lengthwise {

class PlainScorer : public Scorer {
 public:
  explicit PlainScorer(const Decoder& decoder, Arithmetic arithmetic = Arithmetic::full)
      : decoder_(decoder), arithmetic_(arithmetic) {}

  TargetScores score(const Batch& batch) override;
  int64_t token_budget() const override { return 8192; }
  const Placing* placing() const override { return &decoder_.placing(); }

 private:
  const Decoder& decoder_;
  Arithmetic arithmetic_;
};

/// On a GPU, a turn among those who share it (core/device_gate.h).
std::shared_lock<std::shared_mutex> turn_at(const Decoder& decoder);

/// The batch with its tensors there.
Batch on_device(Batch batch, at::Device device);

}  // namespace lengthwise
