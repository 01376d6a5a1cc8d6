#include "model/plain_layer.h"

#include <ATen/ATen.h>

#include "kernels/elementwise.h"
#include "kernels/plain_attention.h"

namespace lengthwise {
namespace {

at::Tensor normed(const Decoder& decoder, const at::Tensor& x, const Parameter& gain) {
  if (!decoder.normalizes()) return x;
  return x * at::rsqrt(x.square().mean(-1, true) + kNormEpsilon) * gain.value;
}

at::Tensor drop(const at::Tensor& x, const PlainStep& step, DropoutPlace place, int64_t layer = 0) {
  if (!step.dropout.active()) return x;
  return x * step.dropout.mask(place, layer, x.size(0), x.size(1), x.options().requires_grad(false));
}

/// A linear layer. Rounding a tensor also rounds the gradient that comes back through it; the gradient of a weight is
/// not rounded.
at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, Arithmetic arithmetic) {
  if (arithmetic == Arithmetic::full) return at::matmul(x, weight);
  const auto rounded = [](const at::Tensor& t) { return t.to(at::kBFloat16).to(at::kFloat); };
  const at::Tensor rounded_weight = weight + (rounded(weight.detach()) - weight.detach());
  return rounded(at::matmul(rounded(x), rounded_weight));
}

}  // namespace

PlainRows plain_embedding(const Decoder& decoder, const at::Tensor& tokens, const EncodingContext& context,
                          const PlainStep& step) {
  at::Tensor h = at::embedding(decoder.embedding().value, tokens);
  if (const at::Tensor addition = decoder.encoding().addition(context); addition.defined()) {
    h = h + addition;
  }
  return {drop(h, step, DropoutPlace::embedding), decoder.encoding().first_state(context)};
}

PlainRows plain_layer(const Decoder& decoder, int64_t index, const PlainRows& before, const PlainAttend& attend,
                      const PlainStep& step, const at::Tensor& kept) {
  auto [h, state] = before;
  const ModelConfig& config = decoder.config();
  const LayerParameters& layer = decoder.layer(index);
  const auto dropped = [&](const at::Tensor& x, DropoutPlace place) { return drop(x, step, place, index); };
  const auto product = [&](const at::Tensor& x, const Parameter* weight) {
    return linear(x, weight->value, step.arithmetic);
  };
  const at::Tensor qkv = product(normed(decoder, h, *layer.attention_gain), layer.qkv);
  const int64_t inner = config.heads * config.head_dim;
  const int64_t columns = qkv.size(1) - 3 * inner;
  at::Tensor mixed = attend(qkv.narrow(1, 0, 3 * inner).reshape({h.size(0), 3, config.heads, config.head_dim}),
                            columns > 0 ? qkv.narrow(1, 3 * inner, columns) : at::Tensor(), state);
  if (kept.defined()) {
    state.reset();
    mixed = mixed.index_select(0, kept);
    h = h.index_select(0, kept);
  }
  h = h + dropped(product(mixed, layer.out), DropoutPlace::attention_out);
  const at::Tensor hidden =
      dropped(at::relu(product(normed(decoder, h, *layer.ff_gain), layer.ff_in)), DropoutPlace::ff_hidden);
  const at::Tensor branch = dropped(product(hidden, layer.ff_out), DropoutPlace::ff_out);
  if (state.defined()) state = decoder.encoding().state_behind_network(index, state, branch);
  return {h + branch, state};
}

at::Tensor plain_part(const at::Tensor& qkv, int64_t part, const LayerValues& values) {
  at::Tensor x = qkv.select(1, part);
  if (part == 2) return x;
  const Rotation& rotation = part == 1 && values.key.cos.defined() ? values.key : values.query;
  if (rotation.cos.defined()) x = plain_rotate(x.transpose(0, 1), rotation.cos, rotation.sin).transpose(0, 1);
  return part == 0 && values.query_scale.defined() ? x * values.query_scale.unsqueeze(-1) : x;
}

AttentionView plain_attend(const Decoder& decoder, int64_t layer, const PaddedHeads& heads, const LayerValues& values,
                           const EncodingContext& context, const at::Tensor& mask) {
  const Encoding& encoding = decoder.encoding();
  return encoding.attends(layer) ? encoding.attend(layer, heads, values, context, decoder.score_scale(), mask)
                                 : plain_attention(heads, values, decoder.score_scale(), mask);
}

at::Tensor plain_head_rows(const Decoder& decoder, const at::Tensor& h, const PlainStep& step) {
  const at::Tensor rows = drop(normed(decoder, h, decoder.final_gain()), step, DropoutPlace::final);
  return rows * decoder.logit_scale();
}

at::Tensor plain_head(const Decoder& decoder, const at::Tensor& h, const PlainStep& step) {
  return at::matmul(plain_head_rows(decoder, h, step), decoder.embedding().value.t());
}

}  // namespace lengthwise
