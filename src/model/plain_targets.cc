#include "model/plain_targets.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "model/head_pieces.h"

namespace lengthwise {
namespace {

/// Where `weights` are given, each piece goes backward as soon as it is there, so that one piece of logits exists at a
/// time; what comes to `rows` is gathered in its gradient.
TargetScores score_rows(const Model& model, const at::Tensor& rows, const Batch& batch, const at::Tensor& weights) {
  TargetScores scores{at::empty({batch.target_count()}, rows.options().requires_grad(false)),
                      at::empty({batch.target_count()}, batch.targets.options())};
  for_head_pieces(batch.target_count(), model.config().vocab_rows, [&](int64_t first, int64_t count) {
    const at::Tensor logits = model.head(rows.narrow(0, first, count));
    const at::Tensor losses =
        at::nll_loss(at::log_softmax(logits, -1), batch.targets.narrow(0, first, count), {}, at::Reduction::None);
    if (weights.defined()) (losses * weights.narrow(0, first, count)).sum().backward();
    scores.losses.narrow(0, first, count).copy_(losses.detach());
    scores.best.narrow(0, first, count).copy_(logits.detach().argmax(-1));
  });
  return scores;
}

}  // namespace

TargetScores plain_scores(const Model& model, const Batch& batch, Arithmetic arithmetic) {
  const at::NoGradGuard no_grad;
  return score_rows(model, model.rows(batch, {}, arithmetic), batch, {});
}

TargetScores plain_gradients(const Model& model, const Batch& batch, const StepDropout& dropout, Arithmetic arithmetic,
                             const at::Tensor& weights) {
  const at::Tensor rows = model.rows(batch, dropout, arithmetic);
  const at::Tensor leaf = rows.detach().requires_grad_(true);
  TargetScores scores = score_rows(model, leaf, batch, weights);
  rows.backward(leaf.grad());
  return scores;
}

TargetScores plain_gradients(const Model& model, const Batch& batch, const StepDropout& dropout, Arithmetic arithmetic,
                             double weight) {
  const at::Tensor weights =
      at::full({batch.target_count()}, weight, model.parameters().values().options().requires_grad(false));
  return plain_gradients(model, batch, dropout, arithmetic, weights);
}

}  // namespace lengthwise
