#include "model/cpu_engine.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include "core/error.h"
#include "kernels/elementwise.h"
#include "kernels/products.h"
#include "model/content_values.h"
#include "model/head_pieces.h"
#include "model/plain_targets.h"
#include "model/streams.h"
#include "positional/fused_values.h"

namespace lengthwise {
namespace {

/// Adds the weight gradient of y = x W.
void learn(const at::Tensor& x, const at::Tensor& dy, const Parameter* parameter) {
  at::Tensor gradient = parameter->gradient;
  add_weight_gradient(x, dy, gradient);
}

at::Tensor select(const at::Tensor& x, const at::Tensor& rows, at::Tensor to) {
  return at::index_select_out(to, x, 0, rows);
}

at::Tensor spread(const at::Tensor& x, const at::Tensor& rows, at::Tensor to) {
  return to.zero_().index_copy_(0, rows, x);
}

const at::Tensor kNone;

}  // namespace

/// What a forward pass leaves for the backward pass besides the activations.
struct CpuEngine::Step {
  const Batch& batch;
  const StepDropout& dropout;
  at::Tensor addition;  ///< from the encoding, with its autograd history
  FusedValues values;
  std::vector<ContentValues> content;  ///< by layer; empty where a layer has no columns of its own
  std::vector<AttentionInputs> attention;
  at::Tensor h, inverse, rows, d_rows;
  std::optional<Padding> padding;  ///< where a layer's content is read
};

CpuEngine::CpuEngine(Decoder& decoder, Arithmetic arithmetic)
    : decoder_(decoder),
      arithmetic_(arithmetic),
      attend_([](int64_t, const AttentionInputs& inputs, at::Tensor& out, at::Tensor& log_sum) {
        attention_forward(inputs, out, log_sum);
      }) {
  stores_.resize(static_cast<size_t>(decoder.config().layers));
  if (arithmetic == Arithmetic::bf16) {
    LENGTHWISE_CHECK(decoder.parameters().values().scalar_type() == at::kFloat,
                     "bf16 arithmetic needs float parameters");
    mirror_.emplace(decoder.parameters());
  }
}

void CpuEngine::fix_weights() {
  at::NoGradGuard no_grad;
  if (mirror_) mirror_->refresh();
  fixed_ = true;
}

at::Tensor CpuEngine::buffer(at::Tensor& store, at::IntArrayRef shape, at::ScalarType type) const {
  const int64_t size = c10::multiply_integers(shape);
  const int64_t room = size / shape[0] * rounded_rows(shape[0]);
  if (!store.defined() || store.numel() < room) {
    // A quarter of slack, so that batches of slightly different size do not allocate anew each time. Zeros, because
    // products run over whole blocks of rows and read what no kernel wrote.
    store = at::zeros({room + room / 4}, at::TensorOptions(type));
  }
  return store.narrow(0, 0, size).view(shape);
}

at::Tensor CpuEngine::exact(at::Tensor& store, at::IntArrayRef shape) const {
  return buffer(store, shape, decoder_.parameters().values().scalar_type());
}

at::Tensor CpuEngine::rounded(at::Tensor& store, at::IntArrayRef shape) const {
  return mirror_ ? buffer(store, shape, at::kBFloat16) : exact(store, shape);
}

at::Tensor CpuEngine::weights(const Parameter* parameter) const {
  return mirror_ ? mirror_->of(*parameter) : parameter->value;
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

  const EncodingContext context = context_of(decoder_, batch.positions, batch.streams);
  Step step{batch, dropout, encoding.addition(context), {}, {}, {}, {}, {}, {}, {}, {}};
  step.content.resize(static_cast<size_t>(config.layers));
  const LayerNoise noise = [&](int64_t layer) { return dropout.noise(layer); };
  step.values = fused_values(encoding, config.layers, batch.positions, batch.longest, noise, context.streams);

  at::NoGradGuard no_grad;
  if (mirror_ && !fixed_) mirror_->refresh();
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
    if (columns > 3 * inner) read_content(step, context, index, backward);
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
    if (values.key_bias.defined()) inputs.key_bias = values.key_bias.detach();
    inputs.window = values.window;
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

void CpuEngine::read_content(Step& step, EncodingContext context, int64_t index, bool backward) {
  const Batch& batch = step.batch;
  const int64_t inner = decoder_.config().heads * decoder_.config().head_dim;
  const at::Tensor& qkv = saved_[static_cast<size_t>(index)].qkv;
  if (!step.padding) step.padding = padding_of(batch.offsets, batch.longest, batch.token_count());
  context.distances = batch.longest;
  context.noise = step.dropout.noise(index);
  const at::AutoGradMode with_history(backward);
  ContentValues& content = step.content[static_cast<size_t>(index)];
  content =
      content_values(decoder_.encoding(), index, std::move(context), *step.padding,
                     qkv.narrow(1, 3 * inner, qkv.size(1) - 3 * inner), decoder_.parameters().values().scalar_type());
  step.values.entries[step.values.entry_of(index)] = content.values;
}

TargetScores CpuEngine::head(Step& step, double weight) {
  const Batch& batch = step.batch;
  const int64_t vocabulary = decoder_.config().vocab_rows;
  const at::Tensor& embedding = decoder_.embedding().value;
  TargetScores scores{at::empty({batch.target_count()}, step.rows.options()),
                      at::empty({batch.target_count()}, at::kLong)};
  if (weight > 0) step.d_rows = exact(d_head_store_, {batch.target_count(), decoder_.config().width});
  for_head_pieces(batch.target_count(), vocabulary, [&](int64_t first, int64_t count) {
    const at::Tensor rows = step.rows.narrow(0, first, count);
    at::Tensor losses = scores.losses.narrow(0, first, count);
    at::Tensor best = scores.best.narrow(0, first, count);
    at::Tensor logits = exact(logits_store_, {count, vocabulary});
    at::mm_out(logits, rows, embedding.t());
    cross_entropy(logits, batch.targets.narrow(0, first, count), weight, losses, best);
    if (weight <= 0) return;
    at::Tensor d_rows = step.d_rows.narrow(0, first, count);
    at::mm_out(d_rows, logits, embedding);  // the logits are their gradient now
    learn(logits, rows, &decoder_.embedding());
  });
  return scores;
}

void CpuEngine::backward(const Step& step) {
  const ModelConfig& config = decoder_.config();
  const Batch& batch = step.batch;
  const StepDropout& dropout = step.dropout;
  const int64_t tokens = batch.token_count();
  const int64_t width = config.width;
  const int64_t inner = config.heads * config.head_dim;

  at::Tensor d_rows = step.d_rows;
  d_rows.mul_(decoder_.logit_scale());
  dropout_forward(d_rows, dropout.at(DropoutPlace::final), d_rows);

  at::Tensor d_h = exact(d_h_rows_store_, {batch.target_count(), width});
  d_h.zero_();
  at::Tensor d_branch = rounded(d_branch_store_, {batch.target_count(), width});
  at::Tensor gradient = decoder_.final_gain().gradient;
  add_norm_backward(d_rows, step.h, step.inverse, decoder_.final_gain().value,
                    dropout.at(DropoutPlace::ff_out, config.layers - 1), d_h, d_branch, gradient);

  std::vector<at::Tensor> d_tables(step.values.entries.size());  // undefined where a table does not learn
  for (size_t entry = 0; entry < d_tables.size(); ++entry) {
    const at::Tensor& table = step.values.entries[entry].table;
    if (table.defined() && table.requires_grad()) d_tables[entry] = at::zeros(table.sizes(), table.options());
  }
  std::vector<at::Tensor> d_scales(step.values.entries.size());  // likewise
  for (int64_t index = config.layers - 1; index >= 0; --index) {
    const LayerParameters& layer = decoder_.layer(index);
    const Saved& saved = saved_[static_cast<size_t>(index)];
    const int64_t rows = saved.hidden.size(0);
    at::Tensor d_hidden = rounded(d_hidden_store_, {rows, config.ff_width});
    at::Tensor d_normed = rounded(d_normed_store_, {rows, width});
    at::Tensor d_mixed = rounded(d_mixed_store_, {rows, inner});
    learn(saved.hidden, d_branch, layer.ff_out);
    multiply_transposed(d_branch, weights(layer.ff_out), d_hidden);
    relu_dropout_backward(saved.hidden, dropout.at(DropoutPlace::ff_hidden, index), d_hidden);
    learn(saved.normed_mid, d_hidden, layer.ff_in);
    multiply_transposed(d_hidden, weights(layer.ff_in), d_normed);
    add_norm_backward(d_normed, saved.h_mid, saved.inverse_mid, layer.ff_gain->value,
                      dropout.at(DropoutPlace::attention_out, index), d_h, d_branch, layer.ff_gain->gradient);

    learn(saved.mixed, d_branch, layer.out);
    multiply_transposed(d_branch, weights(layer.out), d_mixed);
    if (index + 1 == config.layers) {
      d_mixed = spread(d_mixed, batch.loss_rows, rounded(d_mixed_all_store_, {tokens, inner}));
      d_h = spread(d_h, batch.loss_rows, exact(d_h_store_, {tokens, width}));
      d_branch = rounded(d_branch_store_, {tokens, width});
      d_normed = rounded(d_normed_store_, {tokens, width});
    }
    const auto like = [](const at::Tensor& value) {
      return value.defined() && value.requires_grad() ? at::empty(value.sizes(), value.options()) : at::Tensor();
    };
    const at::Tensor d_scale = like(step.values.of(index).query_scale);
    const at::Tensor d_key_bias = like(step.values.of(index).key_bias);
    at::Tensor& d_table = d_tables[step.values.entry_of(index)];
    at::Tensor d_qkv = rounded(d_qkv_store_, {tokens, layer.qkv->shape[1]});
    at::Tensor d_heads = d_qkv.narrow(1, 0, 3 * inner);
    attention_backward(step.attention[static_cast<size_t>(index)], saved.log_sum, d_mixed, d_heads, d_table, d_scale,
                       d_key_bias);
    if (const ContentValues& content = step.content[static_cast<size_t>(index)]; content.features.defined()) {
      d_qkv.narrow(1, 3 * inner, content.features.size(1))
          .copy_(content_backward(content, {d_table, d_scale, d_key_bias}));
      d_table.reset();
    } else if (d_scale.defined()) {
      at::Tensor& sum = d_scales[step.values.entry_of(index)];
      sum = sum.defined() ? sum + d_scale : d_scale;
    }
    learn(saved.normed, d_qkv, layer.qkv);
    multiply_transposed(d_qkv, weights(layer.qkv), d_normed);
    at::Tensor d_below = index > 0 ? d_branch : at::Tensor();
    add_norm_backward(d_normed, saved.h, saved.inverse, layer.attention_gain->value,
                      dropout.at(DropoutPlace::ff_out, index - 1), d_h, d_below, layer.attention_gain->gradient);
  }
  gradient = decoder_.embedding().gradient;
  embed_backward(batch.tokens, dropout.at(DropoutPlace::embedding), d_h, gradient);

  // The encoding's own parameters learn by autograd from the gradients of the values it stated.
  std::vector<at::Tensor> stated, gradients;
  for (size_t entry = 0; entry < d_tables.size(); ++entry) {
    if (!d_tables[entry].defined()) continue;
    stated.push_back(step.values.entries[entry].table);
    gradients.push_back(d_tables[entry]);
  }
  for (size_t entry = 0; entry < d_scales.size(); ++entry) {
    if (!d_scales[entry].defined()) continue;
    stated.push_back(step.values.entries[entry].query_scale);
    gradients.push_back(d_scales[entry]);
  }
  if (step.addition.defined() && step.addition.requires_grad()) {
    stated.push_back(step.addition);
    gradients.push_back(d_h);
  }
  if (!stated.empty()) torch::autograd::backward(stated, gradients);
}

}  // namespace lengthwise
