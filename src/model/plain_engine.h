#pragma once
/// Scores and gradients by ordinary tensor operations (plain_targets.h), for models without kernels of their own.
#include "model/plain_targets.h"

namespace lengthwise {

class PlainEngine : public Engine {
 public:
  PlainEngine(const Model& model, Arithmetic arithmetic) : model_(model), arithmetic_(arithmetic) {}

  TargetScores score(const Batch& batch) override { return plain_scores(model_, batch, arithmetic_); }
  int64_t token_budget() const override { return 8192; }
  const Placing* placing() const override { return &model_.placing(); }
  TargetScores accumulate_gradients(const Batch& batch, const StepDropout& dropout, double weight) override {
    return plain_gradients(model_, batch, dropout, arithmetic_, weight);
  }

 private:
  const Model& model_;
  Arithmetic arithmetic_;
};

}  // namespace lengthwise
