// How the encoding's values come to the tokens of a batch, in gpu/decoder_passes.h.
#include <ATen/ATen.h>

#include <algorithm>

#include "gpu/decoder_passes.h"
#include "gpu_kernels/rows.h"
#include "model/streams.h"

namespace lengthwise {

/// Notes what there must be room for.
void DecoderPasses::probe(const EncodingValues& values) {
  token_values_.resize(std::max(token_values_.size(), values.layers.entries.size()));
  for (size_t entry = 0; entry < values.layers.entries.size(); ++entry) {
    const LayerValues& stated = values.layers.entries[entry];
    token_values_[entry].turns |= stated.query.cos.defined();
    token_values_[entry].turns_keys |= stated.key.cos.defined();
    token_values_[entry].scales |= stated.query_scale.defined();
  }
  tables_learn_ |= values.layers.any_learns();
  scales_learn_ |= values.scales_learn();
  addition_learns_ |= values.addition_learns();
  decays_ |= std::ranges::any_of(values.decays, [](const auto& decay) { return decay.has_value(); });
}

void DecoderPasses::load_streams(const std::vector<at::Tensor>& streams, const PassShape& shape) {
  for (size_t rule = 0; rule < streams.size(); ++rule) {
    // What stands behind the last token decides no value, but the order of sums: zeros, whatever was there before.
    const at::Tensor from = at::constant_pad_nd(streams[rule], {0, shape.tokens - streams[rule].numel()});
    at::from_blob(streams_[rule], {from.numel()}, at::TensorOptions(at::kCUDA).dtype(from.scalar_type()))
        .copy_(from.pin_memory(), /*non_blocking=*/true);
  }
}

EncodingContext DecoderPasses::token_context(const PassShape& shape) const {
  const auto on_device = [](void* from, std::vector<int64_t> sizes, at::ScalarType type) {
    return at::from_blob(from, sizes, at::TensorOptions(at::kCUDA).dtype(type));
  };
  std::vector<at::Tensor> streams;
  for (size_t rule = 0; rule < streams_.size(); ++rule) {
    const bool whole = decoder_.placing().rules[rule].whole();
    streams.push_back(on_device(streams_[rule], {shape.tokens}, whole ? at::kLong : at::kDouble));
  }
  const at::Tensor positions = on_device(batch_.positions, {shape.tokens}, at::kInt).to(at::kLong);
  EncodingContext context = context_of(decoder_, positions, streams);
  context.distances = shape.longest;
  if (!decoder_.goes_by_pairs()) return context;
  const at::Tensor begins = on_device(batch_.offsets, {shape.sequences, 1}, at::kInt);
  const at::Tensor rows = (begins + at::arange(shape.longest, begins.options())).clamp_max(shape.tokens - 1).flatten();
  const auto of_pairs = [&](const at::Tensor& x) {
    return x.index_select(0, rows).view({shape.sequences, shape.longest});
  };
  context.query_positions = context.key_positions = of_pairs(positions);
  for (PositionStream& stream : context.streams)
    stream.query_positions = stream.key_positions = of_pairs(stream.positions);
  return context;
}

void DecoderPasses::gather_values(const PassShape& shape, const EncodingValues& values) {
  const auto job = [](const at::Tensor& from, float* to) {
    return from.defined() ? gpu::RowJob{from.const_data_ptr(), to, from.size(1) * 4} : gpu::RowJob{};
  };
  for (size_t entry = 0; entry < values.layers.entries.size(); ++entry) {
    const LayerValues& stated = values.layers.entries[entry];
    const TokenValues& tokens = token_values_[entry];
    const auto gather = [&](const gpu::RowJob& first, const gpu::RowJob& second) {
      if (first.from != nullptr) gpu::gather_rows(places(values), shape.tokens, first, second, stream_);
    };
    gather(job(stated.query.cos, tokens.cos), job(stated.query.sin, tokens.sin));
    gather(job(stated.key.cos, tokens.key_cos), job(stated.key.sin, tokens.key_sin));
    gather(job(stated.query_scale, tokens.query_scale), {});
  }
}

}  // namespace lengthwise
