#pragma once
/// Scores by ordinary tensor operations, on whichever device the parameters lie: for what no fused kernels apply.
#include "core/device_gate.h"
#include "model/model.h"

namespace lengthwise {

class PlainScorer : public Scorer {
 public:
  explicit PlainScorer(const Model& model, Arithmetic arithmetic = Arithmetic::full)
      : model_(model), arithmetic_(arithmetic) {}

  TargetScores score(const Batch& batch) override;
  int64_t token_budget() const override { return 8192; }
  const Placing* placing() const override { return &model_.placing(); }

 private:
  const Model& model_;
  Arithmetic arithmetic_;
};

/// On a GPU, a turn among those who share it (core/device_gate.h).
DeviceTurn turn_at(const Model& model);

/// Until the device has done all that this thread gave it. Whoever has a turn lets the others wait as well.
void wait_for_device(const Model& model);

/// The batch with its tensors there.
Batch on_device(Batch batch, at::Device device);

}  // namespace lengthwise
