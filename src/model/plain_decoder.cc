#include "model/plain_decoder.h"

#include <ATen/ATen.h>

#include <map>

#include "model/plain_layer.h"
#include "model/streams.h"

namespace lengthwise {
namespace {

/// The mask of attention weights, [batch, head, query, key], from its definition over packed tokens.
at::Tensor padded_weight_mask(const StepDropout& dropout, int64_t layer, const Batch& batch, int64_t heads,
                              const Padding& padding, const at::TensorOptions& options) {
  if (!dropout.active()) return {};
  const at::Tensor mask =
      dropout.mask(DropoutPlace::weights, layer, batch.token_count() * heads, batch.longest, options);
  return mask.view({batch.token_count(), heads, batch.longest}).index({padding.index}).transpose(1, 2);
}

}  // namespace

Padding padding_of(const at::Tensor& offsets, int64_t longest, int64_t tokens) {
  const at::Tensor begin = offsets.narrow(0, 0, offsets.size(0) - 1);
  const at::Tensor length = offsets.diff();
  const at::Tensor column = at::arange(longest, offsets.options());
  Padding padding;
  padding.real = column.unsqueeze(0) < length.unsqueeze(1);
  padding.index = (begin.unsqueeze(1) + column.unsqueeze(0)).masked_fill(padding.real.logical_not(), 0);
  const at::Tensor token = at::arange(tokens, offsets.options());
  const at::Tensor sequence =
      at::searchsorted(offsets.narrow(0, 1, length.size(0)).contiguous(), token, /*out_int32=*/false, /*right=*/true);
  padding.place = sequence * longest + token - begin.index_select(0, sequence);
  return padding;
}

at::Tensor Padding::padded(const at::Tensor& x) const {
  // Each row is written once, and read once on the way back: no sums whose order a device would choose.
  const at::Tensor rows = x.flatten(1);
  std::vector<int64_t> shape = x.sizes().vec();
  shape[0] = real.size(0);
  shape.insert(shape.begin() + 1, real.size(1));
  return at::zeros({real.numel(), rows.size(1)}, rows.options().requires_grad(false))
      .index_copy_(0, place, rows)
      .view(shape);
}

at::Tensor Padding::packed(const at::Tensor& x) const {
  return x.flatten(0, 1).index_select(0, place);
}

void add_pairs(const Batch& batch, const Padding& padding, EncodingContext& context) {
  const at::TensorOptions options = batch.positions.options();
  context.query_positions = context.key_positions =
      batch.from_zero ? at::arange(batch.longest, options).unsqueeze(0) : batch.positions.index({padding.index});
  for (PositionStream& stream : context.streams) {
    stream.query_positions = stream.key_positions = stream.positions.index({padding.index});
  }
}

at::Tensor plain_rows(const Decoder& decoder, const Batch& batch, const StepDropout& dropout,
                      const LayerObserver& observe, Arithmetic arithmetic) {
  const ModelConfig& config = decoder.config();
  const Encoding& encoding = decoder.encoding();
  const PlainStep step{dropout, arithmetic};
  const Padding padding = padding_of(batch.offsets, batch.longest, batch.token_count());

  EncodingContext context = context_of(decoder, batch.positions, batch.streams);
  PlainRows rows = plain_embedding(decoder, batch.tokens, context, step);
  const at::Tensor positions = batch.positions.index({padding.index});
  const at::Tensor causal = at::ones({batch.longest, batch.longest}, batch.tokens.options().dtype(at::kBool)).tril();
  const at::Tensor allowed = (causal.unsqueeze(0) & padding.real.unsqueeze(1) & padding.real.unsqueeze(2)).unsqueeze(1);
  context.distances = batch.longest;
  add_pairs(batch, padding, context);
  std::map<int64_t, LayerValues> by_variant;
  for (int64_t index = 0; index < config.layers; ++index) {
    const auto attend = [&](const at::Tensor& qkv, const at::Tensor& features, at::Tensor& state) {
      context.noise = dropout.noise(index);
      if (features.defined()) context.query_features = context.key_features = padding.padded(features);
      if (state.defined()) context.query_state = context.key_state = padding.padded(state);
      // What depends on content is each layer's own.
      const auto [found, fresh] = by_variant.try_emplace(encoding.variant(index));
      if (fresh || features.defined() || state.defined()) found->second = encoding.layer(index, context);
      const LayerValues& values = found->second;
      // [part, batch, head, token, dim], moved once for all that is multiplied with them.
      const std::vector<at::Tensor> parts =
          padding.padded(plain_parts(qkv, values)).permute({2, 0, 3, 1, 4}).contiguous().unbind(0);
      const PaddedHeads heads{parts[0], parts[1], parts[2], positions, positions, allowed};
      const at::Tensor mask =
          padded_weight_mask(dropout, index, batch, config.heads, padding, qkv.options().requires_grad(false));
      const AttentionView attention = plain_attend(decoder, index, heads, values, context, mask);
      if (observe) observe(index, rows.h, attention);
      if (state.defined()) {
        state = padding.packed(encoding.state_behind_attention(index, context, attention.weights));
      }
      return padding.packed(attention.out.transpose(1, 2).flatten(2));
    };
    const bool last = index + 1 == config.layers;
    rows = plain_layer(decoder, index, rows, attend, step, last ? batch.loss_rows : at::Tensor());
  }
  return plain_head_rows(decoder, rows.h, step);
}

at::Tensor plain_logits(const Decoder& decoder, const Batch& batch, const StepDropout& dropout,
                        const LayerObserver& observe, Arithmetic arithmetic) {
  return at::matmul(plain_rows(decoder, batch, dropout, observe, arithmetic), decoder.embedding().value.t());
}

at::Tensor plain_loss(const Decoder& decoder, const Batch& batch, const StepDropout& dropout, Arithmetic arithmetic) {
  return at::cross_entropy_loss(plain_logits(decoder, batch, dropout, nullptr, arithmetic), batch.targets);
}

}  // namespace lengthwise
