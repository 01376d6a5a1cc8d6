#include "model/cpu_engine.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include "core/error.h"
#include "kernels/attention.h"
#include "kernels/elementwise.h"
#include "model/plain_decoder.h"

namespace lengthwise {
namespace {

/// Adds a^T b to a parameter's gradient.
void add_product(const at::Tensor& a, const at::Tensor& b, const Parameter* parameter) {
  at::Tensor gradient = parameter->gradient;
  at::addmm_out(gradient, gradient, a.t(), b);
}

const at::Tensor kNone;

}  // namespace

/// What a forward pass leaves for the backward pass besides the activations.
struct CpuEngine::Step {
  const Batch& batch;
  const StepDropout& dropout;
  at::Tensor addition;            ///< from the encoding, with its autograd history
  std::vector<ScoreTerms> terms;  ///< one, or one per layer
  std::vector<AttentionInputs> attention;
  at::Tensor h, inverse, rows, d_logits;
};

CpuEngine::CpuEngine(Decoder& decoder) : decoder_(decoder) {
  stores_.resize(static_cast<size_t>(decoder.config().layers));
}

at::Tensor CpuEngine::buffer(at::Tensor& store, at::IntArrayRef shape) {
  const int64_t size = c10::multiply_integers(shape);
  if (!store.defined() || store.numel() < size) {
    // A quarter of slack, so that batches of slightly different size do not allocate anew each time.
    store = at::empty({size + size / 4}, decoder_.parameters().values().options());
  }
  return store.narrow(0, 0, size).view(shape);
}

TargetScores CpuEngine::score(const Batch& batch) {
  at::NoGradGuard no_grad;
  return decoder_.encoding().fused() ? run(batch, {}, false, 0) : run_plain(batch, {}, false, 0);
}

TargetScores CpuEngine::accumulate_gradients(const Batch& batch, const StepDropout& dropout, double weight) {
  return decoder_.encoding().fused() ? run(batch, dropout, true, weight) : run_plain(batch, dropout, true, weight);
}

TargetScores CpuEngine::run_plain(const Batch& batch, const StepDropout& dropout, bool backward, double weight) {
  const at::Tensor logits = plain_logits(decoder_, batch, dropout);
  const at::Tensor losses = at::nll_loss(at::log_softmax(logits, -1), batch.targets, {}, at::Reduction::None);
  if (backward) (losses.sum() * weight).backward();
  return {losses.detach(), logits.detach().argmax(-1)};
}

TargetScores CpuEngine::run(const Batch& batch, const StepDropout& dropout, bool backward, double weight) {
  const ModelConfig& config = decoder_.config();
  const Encoding& encoding = decoder_.encoding();
  const int64_t tokens = batch.token_count();
  const int64_t width = config.width;
  const int64_t inner = config.heads * config.head_dim;
  LENGTHWISE_CHECK(tokens > 0 && batch.target_count() > 0, "an empty batch");

  Step step{batch, dropout, encoding.embedding_addition(batch.positions), {}, {}, {}, {}, {}, {}};
  const Rotation rotation = encoding.rotation(batch.positions);
  for (int64_t index = 0; index < (encoding.per_layer() ? config.layers : 1); ++index) {
    step.terms.push_back(encoding.score_terms(batch.longest, index, dropout.at(DropoutPlace::encoding, index)));
  }

  at::NoGradGuard no_grad;
  at::Tensor x = buffer(embedded_store_, {tokens, width});
  embed_forward(decoder_.embedding().value, batch.tokens, step.addition, dropout.at(DropoutPlace::embedding), x);
  at::Tensor branch = buffer(branch_store_, {tokens, width});
  saved_.resize(static_cast<size_t>(config.layers));
  for (int64_t index = 0; index < config.layers; ++index) {
    const LayerParameters& layer = decoder_.layer(index);
    // Without a backward pass every layer uses the first layer's buffers.
    Saved& store = stores_[static_cast<size_t>(backward ? index : 0)];
    Saved& saved = saved_[static_cast<size_t>(index)];
    saved.h = buffer(store.h, {tokens, width});
    saved.inverse = buffer(store.inverse, {tokens});
    saved.normed = buffer(store.normed, {tokens, width});
    add_norm_forward(x, index == 0 ? kNone : branch, dropout.at(DropoutPlace::ff_out, index - 1),
                     layer.attention_gain->value, saved.h, saved.inverse, saved.normed);

    saved.qkv = buffer(store.qkv, {tokens, 3 * inner});
    at::mm_out(saved.qkv, saved.normed, layer.qkv->value);
    const ScoreTerms& terms = step.terms[encoding.per_layer() ? static_cast<size_t>(index) : 0];
    AttentionInputs inputs{saved.qkv,    batch.offsets, config.heads, decoder_.score_scale(),
                           rotation.cos, rotation.sin,  {},           dropout.at(DropoutPlace::weights, index)};
    if (terms.table.defined()) inputs.table = terms.table.detach().contiguous();
    saved.mixed = buffer(store.mixed, {tokens, inner});
    saved.log_sum = buffer(store.log_sum, {tokens, config.heads});
    attention_forward(inputs, saved.mixed, saved.log_sum);
    step.attention.push_back(std::move(inputs));
    at::mm_out(branch, saved.mixed, layer.out->value);

    saved.h_mid = buffer(store.h_mid, {tokens, width});
    saved.inverse_mid = buffer(store.inverse_mid, {tokens});
    saved.normed_mid = buffer(store.normed_mid, {tokens, width});
    add_norm_forward(saved.h, branch, dropout.at(DropoutPlace::attention_out, index), layer.ff_gain->value, saved.h_mid,
                     saved.inverse_mid, saved.normed_mid);
    saved.hidden = buffer(store.hidden, {tokens, config.ff_width});
    at::mm_out(saved.hidden, saved.normed_mid, layer.ff_in->value);
    relu_dropout_forward(saved.hidden, dropout.at(DropoutPlace::ff_hidden, index));
    at::mm_out(branch, saved.hidden, layer.ff_out->value);
    x = saved.h_mid;
  }

  step.h = buffer(final_h_store_, {tokens, width});
  step.inverse = buffer(final_inverse_store_, {tokens});
  at::Tensor normed = buffer(final_normed_store_, {tokens, width});
  add_norm_forward(x, branch, dropout.at(DropoutPlace::ff_out, config.layers - 1), decoder_.final_gain().value, step.h,
                   step.inverse, normed);

  // The head and the loss, only where there is a target.
  step.rows = buffer(head_store_, {batch.target_count(), width});
  at::index_select_out(step.rows, normed, 0, batch.loss_rows);
  dropout_forward(step.rows, dropout.at(DropoutPlace::final), step.rows);
  step.rows.mul_(decoder_.logit_scale());
  step.d_logits = buffer(logits_store_, {batch.target_count(), config.vocab_rows});
  at::mm_out(step.d_logits, step.rows, decoder_.embedding().value.t());
  TargetScores scores{at::empty({batch.target_count()}, x.options()), at::empty({batch.target_count()}, at::kLong)};
  cross_entropy(step.d_logits, batch.targets, backward ? weight : 0, scores.losses, scores.best);
  if (backward) this->backward(step);
  return scores;
}

void CpuEngine::backward(const Step& step) {
  const ModelConfig& config = decoder_.config();
  const Encoding& encoding = decoder_.encoding();
  const Batch& batch = step.batch;
  const StepDropout& dropout = step.dropout;
  const int64_t tokens = batch.token_count();
  const int64_t width = config.width;
  const int64_t inner = config.heads * config.head_dim;

  at::Tensor d_rows = buffer(d_head_store_, {batch.target_count(), width});
  at::mm_out(d_rows, step.d_logits, decoder_.embedding().value);
  add_product(step.d_logits, step.rows, &decoder_.embedding());
  d_rows.mul_(decoder_.logit_scale());
  dropout_forward(d_rows, dropout.at(DropoutPlace::final), d_rows);
  at::Tensor d_normed = buffer(d_normed_store_, {tokens, width});
  d_normed.zero_();
  d_normed.index_copy_(0, batch.loss_rows, d_rows);

  at::Tensor d_h = buffer(d_h_store_, {tokens, width});
  d_h.zero_();
  at::Tensor d_branch = buffer(d_branch_store_, {tokens, width});
  at::Tensor gradient = decoder_.final_gain().gradient;
  add_norm_backward(d_normed, step.h, step.inverse, decoder_.final_gain().value,
                    dropout.at(DropoutPlace::ff_out, config.layers - 1), d_h, d_branch, gradient);

  std::vector<at::Tensor> tables, d_tables;
  for (const ScoreTerms& terms : step.terms) {
    if (!terms.table.defined() || !terms.table.requires_grad()) continue;
    tables.push_back(terms.table);
    d_tables.push_back(at::zeros(terms.table.sizes(), terms.table.options().requires_grad(false)));
  }
  at::Tensor d_hidden = buffer(d_hidden_store_, {tokens, config.ff_width});
  at::Tensor d_mixed = buffer(d_mixed_store_, {tokens, inner});
  at::Tensor d_qkv = buffer(d_qkv_store_, {tokens, 3 * inner});
  for (int64_t index = config.layers - 1; index >= 0; --index) {
    const LayerParameters& layer = decoder_.layer(index);
    const Saved& saved = saved_[static_cast<size_t>(index)];
    add_product(saved.hidden, d_branch, layer.ff_out);
    at::mm_out(d_hidden, d_branch, layer.ff_out->value.t());
    relu_dropout_backward(saved.hidden, dropout.at(DropoutPlace::ff_hidden, index), d_hidden);
    add_product(saved.normed_mid, d_hidden, layer.ff_in);
    at::mm_out(d_normed, d_hidden, layer.ff_in->value.t());
    add_norm_backward(d_normed, saved.h_mid, saved.inverse_mid, layer.ff_gain->value,
                      dropout.at(DropoutPlace::attention_out, index), d_h, d_branch, layer.ff_gain->gradient);

    add_product(saved.mixed, d_branch, layer.out);
    at::mm_out(d_mixed, d_branch, layer.out->value.t());
    at::Tensor d_table;
    if (!d_tables.empty()) d_table = d_tables[encoding.per_layer() ? static_cast<size_t>(index) : 0];
    attention_backward(step.attention[static_cast<size_t>(index)], saved.mixed, saved.log_sum, d_mixed, d_qkv, d_table);
    add_product(saved.normed, d_qkv, layer.qkv);
    at::mm_out(d_normed, d_qkv, layer.qkv->value.t());
    at::Tensor d_below = index > 0 ? d_branch : at::Tensor();
    add_norm_backward(d_normed, saved.h, saved.inverse, layer.attention_gain->value,
                      dropout.at(DropoutPlace::ff_out, index - 1), d_h, d_below, layer.attention_gain->gradient);
  }
  gradient = decoder_.embedding().gradient;
  embed_backward(batch.tokens, dropout.at(DropoutPlace::embedding), d_h, gradient);

  // The encoding's own parameters learn by autograd from the gradients of the values it stated.
  if (step.addition.defined() && step.addition.requires_grad()) {
    tables.push_back(step.addition);
    d_tables.push_back(d_h);
  }
  if (!tables.empty()) torch::autograd::backward(tables, d_tables);
}

}  // namespace lengthwise
