#include "model/cpu_engine.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "core/error.h"
#include "kernels/elementwise.h"
#include "model/cpu_step.h"
#include "model/head_pieces.h"
#include "model/plain_targets.h"
#include "model/streams.h"

namespace lengthwise {
namespace {

at::Tensor select(const at::Tensor& x, const at::Tensor& rows, at::Tensor to) {
  return at::index_select_out(to, x, 0, rows);
}

const at::Tensor kNone;

}  // namespace

CpuEngine::CpuEngine(Decoder& decoder, Arithmetic arithmetic)
    : decoder_(decoder),
      arithmetic_(arithmetic),
      attend_([](int64_t, const AttentionInputs& inputs, at::Tensor& out, at::Tensor& log_sum) {
        attention_forward(inputs, out, log_sum);
      }),
      weights_(decoder.parameters(), decoder.embedding(),
               arithmetic == Arithmetic::bf16 ? at::kBFloat16 : decoder.parameters().values().scalar_type()) {
  stores_.resize(static_cast<size_t>(decoder.config().layers));
}

void CpuEngine::fix_weights() {
  weights_.refresh(true);
  fixed_ = true;
}

at::Tensor CpuEngine::buffer(at::Tensor& store, at::IntArrayRef shape, at::ScalarType type) const {
  LENGTHWISE_CHECK(shape.size() <= 2, "buffers are rows or matrices");
  const int64_t size = c10::multiply_integers(shape);
  const int64_t room = size / shape[0] * rounded_rows(shape[0]);
  if (!store.defined() || store.numel() < room) {
    // A quarter of slack, so that batches of slightly different size do not allocate anew each time. Zeros, because
    // products run over whole blocks of rows and read what no kernel wrote.
    store = at::zeros({room + room / 4}, at::TensorOptions(type));
  }
  // Dozens of these are made in a step; autograd need not follow them.
  const at::AutoDispatchBelowADInplaceOrView unfollowed;
  return shape.size() == 1 ? store.as_strided(shape, {1}) : store.as_strided(shape, {shape[1], 1});
}

at::Tensor CpuEngine::exact(at::Tensor& store, at::IntArrayRef shape) const {
  return buffer(store, shape, decoder_.parameters().values().scalar_type());
}

at::Tensor CpuEngine::rounded(at::Tensor& store, at::IntArrayRef shape) const {
  return arithmetic_ == Arithmetic::bf16 ? buffer(store, shape, at::kBFloat16) : exact(store, shape);
}

TargetScores CpuEngine::score(const Batch& batch) {
  at::NoGradGuard no_grad;
  return decoder_.fused() ? run(batch, {}, false, 0) : run_plain(batch, {}, false, 0);
}

TargetScores CpuEngine::accumulate_gradients(const Batch& batch, const StepDropout& dropout, double weight) {
  return decoder_.fused() ? run(batch, dropout, true, weight) : run_plain(batch, dropout, true, weight);
}

TargetScores CpuEngine::run_plain(const Batch& batch, const StepDropout& dropout, bool backward, double weight) {
  return backward ? plain_gradients(decoder_, batch, dropout, arithmetic_, weight)
                  : plain_scores(decoder_, batch, arithmetic_);
}

TargetScores CpuEngine::run(const Batch& batch, const StepDropout& dropout, bool backward, double weight) {
  const ModelConfig& config = decoder_.config();
  const Encoding& encoding = decoder_.encoding();
  const int64_t tokens = batch.token_count();
  const int64_t width = config.width;
  const int64_t inner = config.heads * config.head_dim;
  LENGTHWISE_CHECK(tokens > 0 && batch.target_count() > 0, "an empty batch");

  EncodingContext context = context_of(decoder_, batch.positions, batch.streams);
  Step step{batch, dropout, encoding.addition(context), {}, {}, {}, {}, {}, {}, {}, {}, {}};
  step.content.resize(static_cast<size_t>(config.layers));
  for (int64_t index = 0; index < config.layers; ++index) step.decays.push_back(encoding.decay(index));
  const LayerNoise noise = [&](int64_t layer) { return dropout.noise(layer); };
  context.distances = batch.longest;
  if (decoder_.goes_by_pairs()) {
    step.padding = padding_of(batch.offsets, batch.longest, tokens);
    add_pairs(batch, *step.padding, context);
  }
  step.values = fused_values(encoding, config.layers, context, noise, /*adds_decays=*/true);
  for (LayerValues& entry : step.values.entries)
    make_dense(entry, config.heads, decoder_.parameters().values().scalar_type());

  at::NoGradGuard no_grad;
  if (!fixed_) weights_.refresh(backward);
  at::Tensor x = exact(embedded_store_, {tokens, width});
  embed_forward(decoder_.embedding().value, batch.tokens, step.addition, dropout.at(DropoutPlace::embedding), x);
  at::Tensor branch;
  saved_.resize(static_cast<size_t>(config.layers));
  for (int64_t index = 0; index < config.layers; ++index) {
    const LayerParameters& layer = decoder_.layer(index);
    // Without a backward pass every layer uses the first layer's buffers.
    Saved& store = stores_[static_cast<size_t>(backward ? index : 0)];
    Saved& saved = saved_[static_cast<size_t>(index)];
    saved.h = exact(store.h, {tokens, width});
    saved.inverse = exact(store.inverse, {tokens});
    saved.normed = rounded(store.normed, {tokens, width});
    add_norm_forward(x, index == 0 ? kNone : branch, dropout.at(DropoutPlace::ff_out, index - 1),
                     layer.attention_gain->value, saved.h, saved.inverse, saved.normed);

    const int64_t columns = layer.qkv->shape[1];
    saved.qkv = rounded(store.qkv, {tokens, columns});
    multiply(saved.normed, weights(layer.qkv), saved.qkv);
    const bool decays = step.decays[static_cast<size_t>(index)].has_value();
    if (columns > 3 * inner && !decays) read_content(step, context, index, backward);
    const LayerValues& values = step.values.of(index);
    AttentionInputs inputs{saved.qkv.narrow(1, 0, 3 * inner),
                           batch.offsets,
                           config.heads,
                           decoder_.score_scale(),
                           values.query.cos,
                           values.query.sin,
                           {},
                           dropout.at(DropoutPlace::weights, index)};
    if (values.table.defined()) inputs.table = values.table.detach();
    inputs.key_cos = values.key.cos;
    inputs.key_sin = values.key.sin;
    if (values.query_scale.defined()) inputs.query_scale = values.query_scale.detach();
    if (decays) {
      saved.key_bias = exact(store.key_bias, {tokens, config.heads});
      key_decay_forward(decay_of(step, index), saved.key_bias);
      inputs.key_bias = saved.key_bias;
    } else if (values.key_bias.defined()) {
      inputs.key_bias = values.key_bias.detach();
    }
    inputs.window = values.window;
    if (values.dense.defined()) inputs.dense = values.dense.detach();
    saved.mixed = rounded(store.mixed, {tokens, inner});
    saved.log_sum = exact(store.log_sum, {tokens, config.heads});
    attend_(index, inputs, saved.mixed, saved.log_sum);
    step.attention.push_back(std::move(inputs));
    x = saved.h;
    const bool last = index + 1 == config.layers;
    if (last) {
      saved.mixed = select(saved.mixed, batch.loss_rows, rounded(mixed_rows_store_, {batch.target_count(), inner}));
      x = select(saved.h, batch.loss_rows, exact(h_rows_store_, {batch.target_count(), width}));
    }
    const int64_t rows = x.size(0);
    branch = rounded(branch_store_, {rows, width});
    multiply(saved.mixed, weights(layer.out), branch);

    saved.h_mid = exact(store.h_mid, {rows, width});
    saved.inverse_mid = exact(store.inverse_mid, {rows});
    saved.normed_mid = rounded(store.normed_mid, {rows, width});
    add_norm_forward(x, branch, dropout.at(DropoutPlace::attention_out, index), layer.ff_gain->value, saved.h_mid,
                     saved.inverse_mid, saved.normed_mid);
    saved.hidden = rounded(store.hidden, {rows, config.ff_width});
    multiply(saved.normed_mid, weights(layer.ff_in), saved.hidden);
    relu_dropout_forward(saved.hidden, dropout.at(DropoutPlace::ff_hidden, index));
    multiply(saved.hidden, weights(layer.ff_out), branch);
    x = saved.h_mid;
  }

  step.h = exact(final_h_store_, {batch.target_count(), width});
  step.inverse = exact(final_inverse_store_, {batch.target_count()});
  step.rows = exact(head_store_, {batch.target_count(), width});
  add_norm_forward(x, branch, dropout.at(DropoutPlace::ff_out, config.layers - 1), decoder_.final_gain().value, step.h,
                   step.inverse, step.rows);
  dropout_forward(step.rows, dropout.at(DropoutPlace::final), step.rows);
  step.rows.mul_(decoder_.logit_scale());
  TargetScores scores = head(step, backward ? weight : 0);
  if (backward) this->backward(step);
  return scores;
}

DecayInputs CpuEngine::decay_of(const Step& step, int64_t index) const {
  const KeyDecay& decay = *step.decays[static_cast<size_t>(index)];
  const int64_t inner = decoder_.config().heads * decoder_.config().head_dim;
  const at::Tensor& qkv = saved_[static_cast<size_t>(index)].qkv;
  return {qkv.narrow(1, 3 * inner, qkv.size(1) - 3 * inner), step.batch.offsets, decay.constant.detach(), decay.sign};
}

void CpuEngine::read_content(Step& step, EncodingContext context, int64_t index, bool backward) {
  const Batch& batch = step.batch;
  const int64_t inner = decoder_.config().heads * decoder_.config().head_dim;
  const at::Tensor& qkv = saved_[static_cast<size_t>(index)].qkv;
  if (!step.padding) step.padding = padding_of(batch.offsets, batch.longest, batch.token_count());
  context.noise = step.dropout.noise(index);
  const at::AutoGradMode with_history(backward);
  ContentValues& content = step.content[static_cast<size_t>(index)];
  content = content_values(decoder_.encoding(), index, std::move(context), *step.padding,
                           qkv.narrow(1, 3 * inner, qkv.size(1) - 3 * inner), decoder_.config().heads,
                           decoder_.parameters().values().scalar_type());
  step.values.entries[step.values.entry_of(index)] = content.values;
}

TargetScores CpuEngine::head(Step& step, double weight) {
  const Batch& batch = step.batch;
  const int64_t vocabulary = decoder_.config().vocab_rows;
  const ProductWeight& embedding = weights(&decoder_.embedding());
  TargetScores scores{at::empty({batch.target_count()}, step.rows.options()),
                      at::empty({batch.target_count()}, at::kLong)};
  if (weight > 0) step.d_rows = exact(d_head_store_, {batch.target_count(), decoder_.config().width});
  for_head_pieces(batch.target_count(), vocabulary, [&](int64_t first, int64_t count) {
    const at::Tensor rows = step.rows.narrow(0, first, count);
    at::Tensor losses = scores.losses.narrow(0, first, count);
    at::Tensor best = scores.best.narrow(0, first, count);
    at::Tensor logits = exact(logits_store_, {count, vocabulary});
    multiply_transposed(rows, embedding, logits);
    cross_entropy(logits, batch.targets.narrow(0, first, count), weight, losses, best);
    if (weight <= 0) return;
    at::Tensor d_rows = step.d_rows.narrow(0, first, count);
    multiply(logits, embedding, d_rows);  // the logits are their gradient now
    learn_product(logits, rows, &decoder_.embedding());
  });
  return scores;
}

}  // namespace lengthwise
