// How the encoding's values come to the tokens of a batch, and how their gradients go back, in gpu/decoder_passes.h.
#include <ATen/ATen.h>

#include <algorithm>

#include "gpu/decoder_passes.h"
#include "gpu_kernels/embedding.h"
#include "gpu_kernels/rows.h"
#include "gpu_kernels/sort_rows.h"
#include "gpu_kernels/sums.h"
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
  std::vector<gpu::RowJob> jobs;
  const auto gather = [&](const at::Tensor& from, float* to) {
    if (from.defined()) jobs.push_back({from.const_data_ptr(), to, from.size(1) * 4});
  };
  for (size_t entry = 0; entry < values.layers.entries.size(); ++entry) {
    const LayerValues& stated = values.layers.entries[entry];
    const TokenValues& tokens = token_values_[entry];
    gather(stated.query.cos, tokens.cos);
    gather(stated.query.sin, tokens.sin);
    gather(stated.key.cos, tokens.key_cos);
    gather(stated.key.sin, tokens.key_sin);
    gather(stated.query_scale, tokens.query_scale);
  }
  gpu::gather_rows(places(values), shape.tokens, jobs, stream_);
}

void DecoderPasses::learn_scales(const PassShape& shape, const EncodingValues& values,
                                 EncodingGradients& gradients) const {
  gpu::SumByPosition args;
  args.columns = decoder_.config().heads;
  args.part_stride = shape.tokens * args.columns;
  args.offsets = batch_.offsets;
  args.positions = places(values);
  args.sequences = shape.sequences;
  std::vector<gpu::PositionSum> sums;
  for (size_t entry = 0; entry < values.layers.entries.size(); ++entry) {
    const at::Tensor& scale = values.layers.entries[entry].query_scale;
    if (!scale.defined() || !scale.requires_grad()) continue;
    gradients.scales[entry] = at::empty_like(scale, at::MemoryFormat::Contiguous);
    args.rows = scale.size(0);
    sums.push_back({d_query_scale_ + values.layers.first[entry] * args.part_stride, values.layers.layers[entry],
                    gradients.scales[entry].data_ptr<float>()});
  }
  gpu::sum_by_position(args, sums, stream_);
}

void DecoderPasses::map_pairs(const PassShape& shape, const EncodingValues& values) {
  dense_maps_.assign(values.layers.entries.size(), {});
  for (int64_t layer = 0; layer < decoder_.config().layers; ++layer) {
    at::Tensor& map = dense_maps_[values.layers.entry_of(layer)];
    if (map.defined()) continue;
    const gpu::Attention attended = attention(shape, values, 0, layer);
    const int64_t size = gpu::attention_dense_map_size(attended);
    if (size == 0) continue;
    map = at::empty({size}, at::TensorOptions(at::kCUDA).dtype(at::kByte));
    gpu::attention_dense_map(attended, map.data_ptr(), stream_);
  }
}

void DecoderPasses::learn_encoding(const PassShape& shape, const EncodingValues& values, double dropout) {
  const ModelConfig& config = decoder_.config();
  EncodingGradients gradients(values);
  if (values.addition_learns()) {
    gradients.addition = at::zeros_like(values.addition);
    gpu::sort_rows(places(values), &state_->tokens, shape.tokens, position_order_, sort_scratch_, stream_);
    learn_rows(shape, dropout, places(values), position_order_, gradients.addition.data_ptr<float>());
  }
  const int64_t parts = gpu::attention_table_parts(attention(shape, values, dropout, 0));
  for (size_t entry = 0; entry < values.layers.entries.size(); ++entry) {
    if (const at::Tensor& d_dense = d_dense_[entry]; d_dense.defined()) {
      const bool shared = values.layers.entries[entry].dense.size(0) == 1;
      gradients.dense[entry] = shared ? d_dense.sum(0, /*keepdim=*/true) : d_dense;
    }
    const at::Tensor& table = values.layers.entries[entry].table;
    if (!table.defined() || !table.requires_grad()) continue;
    at::Tensor& d_table = gradients.tables[entry];
    d_table = at::empty_like(table);
    // The parts of the layers that share the entry lie behind each other.
    gpu::SumParts sums;
    sums.values = table_parts_ + values.layers.first[entry] * parts * config.heads * shape.longest;
    sums.groups = config.heads;
    sums.parts = parts * values.layers.layers[entry];
    sums.columns = sums.group_stride = sums.out_stride = shape.longest;
    sums.part_stride = config.heads * shape.longest;
    sums.out = d_table.data_ptr<float>();
    sums.accumulate = false;
    gpu::sum_parts(sums, stream_);
  }
  learn_scales(shape, values, gradients);
  if (decays_) {
    // Of all layers at once; what comes out for one without a decay is not looked at.
    const at::Tensor constants =
        at::empty({config.layers, config.heads}, at::TensorOptions(at::kCUDA).dtype(at::kFloat));
    gpu::SumParts sums;
    sums.values = constant_parts_;
    sums.groups = config.layers;
    sums.parts = shape.sequences;
    sums.columns = sums.part_stride = sums.out_stride = config.heads;
    sums.group_stride = shape.sequences * config.heads;
    sums.out = constants.data_ptr<float>();
    sums.accumulate = false;
    gpu::sum_parts(sums, stream_);
    for (size_t layer = 0; layer < values.decays.size(); ++layer) {
      if (values.decays[layer]) gradients.constants[layer] = constants[static_cast<int64_t>(layer)];
    }
  }
  encoding_backward(decoder_, values, gradients);
  d_dense_.clear();
  score_gradients_.reset();
}

}  // namespace lengthwise
