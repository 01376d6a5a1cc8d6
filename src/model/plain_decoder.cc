#include "model/plain_decoder.h"

#include <ATen/ATen.h>

#include "kernels/elementwise.h"

namespace lengthwise {
namespace {

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& gain) {
  return x * at::rsqrt(x.square().mean(-1, true) + kNormEpsilon) * gain;
}

at::Tensor drop(const at::Tensor& x, const Dropout& dropout) {
  return dropout.active() ? x * dropout_mask(dropout, x.size(0), x.size(1), x.options()) : x;
}

/// A linear layer. Rounding a tensor also rounds the gradient that comes back through it; the gradient of a weight is
/// not rounded.
at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, Arithmetic arithmetic) {
  if (arithmetic == Arithmetic::full) return at::matmul(x, weight);
  const auto rounded = [](const at::Tensor& t) { return t.to(at::kBFloat16).to(at::kFloat); };
  const at::Tensor rounded_weight = weight + (rounded(weight.detach()) - weight.detach());
  return rounded(at::matmul(rounded(x), rounded_weight));
}

/// The mask of attention weights, [batch, head, query, key], from its definition over packed tokens.
at::Tensor padded_weight_mask(const Dropout& dropout, const Batch& batch, int64_t heads, const Padding& padding,
                              const at::TensorOptions& options) {
  if (!dropout.active()) return {};
  const at::Tensor mask = dropout_mask(dropout, batch.token_count() * heads, batch.longest, options);
  return mask.view({batch.token_count(), heads, batch.longest}).index({padding.index}).transpose(1, 2);
}

}  // namespace

Padding padding_of(const at::Tensor& offsets, int64_t longest) {
  const at::Tensor begin = offsets.narrow(0, 0, offsets.size(0) - 1);
  const at::Tensor length = offsets.diff();
  const at::Tensor column = at::arange(longest, offsets.options());
  Padding padding;
  padding.real = column.unsqueeze(0) < length.unsqueeze(1);
  padding.index = (begin.unsqueeze(1) + column.unsqueeze(0)).masked_fill(padding.real.logical_not(), 0);
  return padding;
}

at::Tensor plain_logits(const Decoder& decoder, const Batch& batch, const StepDropout& dropout,
                        const LayerObserver& observe, Arithmetic arithmetic) {
  const ModelConfig& config = decoder.config();
  const Encoding& encoding = decoder.encoding();
  const Padding padding = padding_of(batch.offsets, batch.longest);
  const int64_t sequences = batch.sequence_count();

  at::Tensor h = decoder.embedding().value.index_select(0, batch.tokens);
  if (const at::Tensor addition = encoding.embedding_addition(batch.positions); addition.defined()) h = h + addition;
  h = drop(h, dropout.at(DropoutPlace::embedding));

  const Rotation rotation = encoding.rotation(batch.positions);
  const at::Tensor positions = batch.positions.index({padding.index});
  const at::Tensor causal = at::ones({batch.longest, batch.longest}, batch.tokens.options().dtype(at::kBool)).tril();
  const at::Tensor allowed = (causal.unsqueeze(0) & padding.real.unsqueeze(1) & padding.real.unsqueeze(2)).unsqueeze(1);
  ScoreTerms terms;
  for (int64_t index = 0; index < config.layers; ++index) {
    const LayerParameters& layer = decoder.layer(index);
    const at::Tensor normed = rms_norm(h, layer.attention_gain->value);
    const at::Tensor qkv =
        linear(normed, layer.qkv->value, arithmetic).view({batch.token_count(), 3, config.heads, config.head_dim});
    const auto padded = [&](int64_t part, bool rotate) {
      at::Tensor x = qkv.select(1, part);  // [token, head, dim]
      if (rotate && rotation.cos.defined()) {
        x = plain_rotate(x.transpose(0, 1), rotation.cos, rotation.sin).transpose(0, 1);
      }
      return x.index({padding.index}).transpose(1, 2);
    };
    const PaddedHeads heads{padded(0, true), padded(1, true), padded(2, false), positions, positions, allowed};
    if (index == 0 || encoding.per_layer()) {
      terms = encoding.score_terms(batch.longest, index, dropout.noise(index));
      terms.dense = encoding.dense_bias(positions, positions, index);
    }
    const at::Tensor mask = padded_weight_mask(dropout.at(DropoutPlace::weights, index), batch, config.heads, padding,
                                               h.options().requires_grad(false));
    const AttentionView attention = plain_attention(heads, terms, decoder.score_scale(), mask);
    if (observe) observe(index, h, attention);
    at::Tensor mixed =
        attention.out.transpose(1, 2).reshape({sequences, batch.longest, -1}).index({padding.real});  // [token, inner]
    if (index + 1 == config.layers) {
      // Nothing but the rows of targets is wanted from here on; masks of dropout count these rows.
      mixed = mixed.index_select(0, batch.loss_rows);
      h = h.index_select(0, batch.loss_rows);
    }
    h = h + drop(linear(mixed, layer.out->value, arithmetic), dropout.at(DropoutPlace::attention_out, index));

    const at::Tensor hidden = drop(at::relu(linear(rms_norm(h, layer.ff_gain->value), layer.ff_in->value, arithmetic)),
                                   dropout.at(DropoutPlace::ff_hidden, index));
    h = h + drop(linear(hidden, layer.ff_out->value, arithmetic), dropout.at(DropoutPlace::ff_out, index));
  }
  const at::Tensor rows = rms_norm(h, decoder.final_gain().value);
  return at::matmul(drop(rows, dropout.at(DropoutPlace::final)) * decoder.logit_scale(), decoder.embedding().value.t());
}

at::Tensor plain_loss(const Decoder& decoder, const Batch& batch, const StepDropout& dropout, Arithmetic arithmetic) {
  return at::cross_entropy_loss(plain_logits(decoder, batch, dropout, nullptr, arithmetic), batch.targets);
}

}  // namespace lengthwise
