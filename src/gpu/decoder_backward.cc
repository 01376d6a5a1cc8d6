// The backward pass of gpu/decoder_passes.h.
#include <ATen/ATen.h>

#include <algorithm>

#include "core/error.h"
#include "gpu/decoder_passes.h"
#include "gpu_kernels/embedding.h"
#include "gpu_kernels/norm.h"
#include "gpu_kernels/optimizer.h"
#include "gpu_kernels/rows.h"
#include "gpu_kernels/sort_rows.h"
#include "gpu_kernels/sums.h"

namespace lengthwise {
namespace {

at::Tensor pointers_on_device(const std::vector<Parameter*>& parameters) {
  std::vector<int64_t> places;
  for (const Parameter* parameter : parameters) {
    places.push_back(reinterpret_cast<int64_t>(parameter->gradient.data_ptr()));
  }
  return at::tensor(places, at::kLong).to(at::kCUDA);
}

/// More between the products of a layer than what aligns four of them.
constexpr int64_t kMostFiller = 256;

float* gradient_of(const Parameter* parameter) {
  return parameter->gradient.data_ptr<float>();
}

}  // namespace

void DecoderPasses::find_gains() {
  const int64_t layers = decoder_.config().layers;
  std::vector<Parameter*> gains;
  for (int64_t index = 0; index < layers; ++index) gains.push_back(decoder_.layer(index).attention_gain);
  for (int64_t index = 0; index + 1 < layers; ++index) gains.push_back(decoder_.layer(index).ff_gain);
  token_gains_ = pointers_on_device(gains);
  // These norms see only the rows of targets.
  target_gains_ =
      pointers_on_device({decoder_.layer(layers - 1).ff_gain, const_cast<Parameter*>(&decoder_.final_gain())});
}

void DecoderPasses::backward(const PassShape& shape, const EncodingValues& values, double dropout) {
  const ModelConfig& config = decoder_.config();
  side_->follow(stream_);
  gpu::sort_rows(batch_.tokens, &state_->tokens, shape.tokens, token_order_, sort_scratch_, side_->stream());
  head_backward(shape);
  gpu::AddNormBackward norm;
  norm.storage = storage_;
  norm.capacity = shape.targets;
  norm.width = config.width;
  norm.rows = &state_->targets;
  norm.d_normed = d_head_;
  norm.sum = h_rows_;
  norm.inverse = inverse_final_;
  norm.gain = decoder_.final_gain().value.const_data_ptr<float>();
  norm.dropout = drop(dropout, DropoutPlace::ff_out, config.layers - 1);
  norm.d_sum = shape.every_token ? d_h_ : d_h_rows_;
  norm.accumulate = false;
  norm.d_branch = d_layers_[(config.layers - 1) % 2].ff_branch;
  norm.gain_parts = target_gain_parts_ + gpu::add_norm_parts(shape.targets) * config.width;
  norm.normed_dropout = drop(dropout, DropoutPlace::final);
  norm.normed_scale = static_cast<float>(decoder_.logit_scale());
  gpu::add_norm_backward(norm, stream_);
  d_dense_.assign(values.layers.entries.size(), {});
  for (int64_t index = config.layers - 1; index >= 0; --index) backward_layer(shape, values, dropout, index);
  side_->lead(stream_);

  learn_rows(shape, dropout, batch_.tokens, token_order_, gradient_of(&decoder_.embedding()));
  sum_gains(shape.tokens, token_gain_parts_, token_gains_);
  sum_gains(shape.targets, target_gain_parts_, target_gains_);
  learn_encoding(shape, values, dropout);
}

void DecoderPasses::backward_layer(const PassShape& shape, const EncodingValues& values, double dropout,
                                   int64_t index) {
  const ModelConfig& config = decoder_.config();
  const LayerParameters& parameters = decoder_.layer(index);
  const Layer& layer = layers_[static_cast<size_t>(index)];
  const int64_t width = config.width;
  const int64_t inner = config.heads * config.head_dim;
  const bool last = index + 1 == config.layers;
  const bool picked = last && !shape.every_token;
  const int64_t rows = last ? shape.targets : shape.tokens;
  const int64_t token_part = gpu::add_norm_parts(shape.tokens) * width;

  const LayerGradients& d_layer = d_layers_[index % 2];
  learn(layer.hidden, config.ff_width, d_layer.ff_branch, parameters.ff_out, rows);
  products_.pass_back_rectified(d_layer.ff_branch, weights(parameters.ff_out), layer.hidden, d_layer.hidden, rows,
                                config.ff_width, width, drop(dropout, DropoutPlace::ff_hidden, index));
  learn(layer.normed_mid, width, d_layer.hidden, parameters.ff_in, rows);
  products_.multiply_transposed(d_layer.hidden, weights(parameters.ff_in), d_normed_, width, storage_, rows, width,
                                config.ff_width);
  gpu::AddNormBackward norm;
  norm.storage = storage_;
  norm.capacity = rows;
  norm.width = width;
  norm.rows = last ? &state_->targets : &state_->tokens;
  norm.d_normed = d_normed_;
  norm.normed = layer.normed_mid;
  norm.sum = keeps_sums_ ? layer.sum_mid : nullptr;
  norm.inverse = layer.inverse_mid;
  norm.gain = parameters.ff_gain->value.const_data_ptr<float>();
  norm.dropout = drop(dropout, DropoutPlace::attention_out, index);
  norm.d_sum = picked ? d_h_rows_ : d_h_;
  norm.d_branch = d_layer.attention_branch;
  norm.gain_parts = last ? target_gain_parts_ : token_gain_parts_ + (config.layers + index) * token_part;
  gpu::add_norm_backward(norm, stream_);

  void* d_mixed = picked ? d_mixed_rows_ : d_mixed_;
  learn(picked ? mixed_rows_ : layer.mixed, inner, d_layer.attention_branch, parameters.out, rows);
  products_.multiply_transposed(d_layer.attention_branch, weights(parameters.out), d_mixed, inner, storage_, rows,
                                inner, width);
  if (picked) {
    const gpu::RowJob spread[] = {{d_mixed_rows_, d_mixed_, inner * gpu::bytes_of(storage_)},
                                  {d_h_rows_, d_h_, width * 4}};
    gpu::gather_rows(batch_.target_at, shape.tokens, spread, stream_);
  }
  const gpu::Attention attended = attention(shape, values, dropout, index);
  gpu::AttentionGradients gradients;
  gradients.out = layer.mixed;
  gradients.log_sum = layer.log_sum;
  gradients.d_out = d_mixed_;
  gradients.d_qkv = d_layer.qkv;
  gradients.delta = delta_;
  if (values.layers.learns(index)) {
    const int64_t place = values.layers.place[static_cast<size_t>(index)];
    gradients.table_parts = table_parts_ + place * gpu::attention_table_parts(attended) * config.heads * shape.longest;
  }
  if (scales_learn_ && values.layers.of(index).query_scale.defined()) {
    gradients.d_query_scale =
        d_query_scale_ + values.layers.place[static_cast<size_t>(index)] * shape.tokens * config.heads;
  }
  if (const at::Tensor& dense = values.layers.of(index).dense; dense.defined() && dense.requires_grad()) {
    at::Tensor& d_dense = d_dense_[values.layers.entry_of(index)];
    if (!d_dense.defined()) {
      int64_t parts = 0;  // the most that any of its layers writes
      for (int64_t other = 0; other < config.layers; ++other) {
        if (values.layers.entry_of(other) != values.layers.entry_of(index)) continue;
        parts = std::max(parts, gpu::attention_dense_parts(attention(shape, values, dropout, other)));
      }
      d_dense = at::zeros({parts, config.heads, dense.size(2), dense.size(3)}, dense.options().requires_grad(false));
    }
    gradients.d_dense = d_dense.data_ptr<float>();
    if (const int64_t size = gpu::attention_score_gradients_size(attended); size > 0) {
      if (!score_gradients_.defined())
        score_gradients_ = at::empty({size}, dense.options().dtype(at::kByte).requires_grad(false));
      gradients.score_gradients = score_gradients_.data_ptr();
    }
  }
  if (attended.key_bias != nullptr) gradients.d_key_bias = d_key_bias_;
  gpu::attention_backward(attended, gradients, stream_);
  if (attended.key_bias != nullptr) learn_decay(shape, values, index, d_layer.qkv);
  learn_qkv(index, d_layer.qkv, shape.tokens);
  square_layer(index);
  products_.multiply_transposed(d_layer.qkv, qkv_weights(index), d_normed_, width, storage_, shape.tokens, width,
                                qkv_columns(index));
  // The other set of LayerGradients is written from here on: the second stream must be through with it, that is with
  // the weight gradients of the layer above.
  side_->wait_for_mark(stream_);
  side_->mark();
  norm.capacity = shape.tokens;
  norm.rows = &state_->tokens;
  norm.normed = layer.normed;
  norm.sum = keeps_sums_ ? layer.sum : nullptr;
  norm.inverse = layer.inverse;
  norm.gain = parameters.attention_gain->value.const_data_ptr<float>();
  norm.dropout = drop(dropout, DropoutPlace::ff_out, index - 1);
  norm.d_sum = d_h_;
  norm.d_branch = index > 0 ? d_layers_[(index + 1) % 2].ff_branch : nullptr;
  norm.gain_parts = token_gain_parts_ + index * token_part;
  gpu::add_norm_backward(norm, stream_);
}

DecoderPasses::GradientPlace DecoderPasses::gradient_place(const Parameter* parameter) const {
  const bool rounded = parameter->product && product_gradients_.defined();
  if (!rounded) return {gradient_of(parameter), gpu::Storage::float32};
  return {product_gradients_.data_ptr<at::BFloat16>() + place_of(parameter), gpu::Storage::bfloat16};
}

void DecoderPasses::learn(const void* x, int64_t x_stride, const void* dy, const Parameter* parameter, int64_t rows) {
  side_->follow(stream_);
  const GradientPlace gradient = gradient_place(parameter);
  side_->products().weight_gradient(x, x_stride, dy, gradient.to, gradient.storage, rows, parameter->shape[0],
                                    parameter->shape[1]);
}

void DecoderPasses::square_layer(int64_t index) {
  if (!product_gradients_.defined()) return;
  const LayerParameters& layer = decoder_.layer(index);
  int64_t begin = product_gradients_.numel();
  int64_t end = 0;
  int64_t count = 0;
  for (const Parameter* parameter : {layer.qkv, layer.out, layer.ff_in, layer.ff_out}) {
    begin = std::min(begin, place_of(parameter));
    end = std::max(end, place_of(parameter) + parameter->value.numel());
    count += parameter->value.numel();
  }
  // What lies between two products, and up to the next multiple of 8, is filler and stays 0.
  const int64_t size = (end - begin + 7) / 8 * 8;
  LENGTHWISE_CHECK(begin % 8 == 0 && begin + size <= product_gradients_.numel() && size - count < kMostFiller,
                   "the products of layer {} are not together in the arena", index);
  gpu::gradient_squares(product_gradients_.data_ptr<at::BFloat16>() + begin, size,
                        product_squares_.data_ptr<double>() + index * gpu::kSquareBlocks, side_->stream());
}

void DecoderPasses::learn_rows(const PassShape& shape, double dropout, const int32_t* keys, const int32_t* order,
                               float* d_table) {
  gpu::EmbedBackward args;
  args.capacity = shape.tokens;
  args.width = decoder_.config().width;
  args.rows = &state_->tokens;
  args.keys = keys;
  args.order = order;
  args.dx = d_h_;
  args.dropout = drop(dropout, DropoutPlace::embedding);
  args.d_table = d_table;
  args.borders = borders_;
  gpu::embed_backward(args, stream_);
}

void DecoderPasses::sum_gains(int64_t capacity, const float* parts, const at::Tensor& gains) {
  const int64_t width = decoder_.config().width;
  gpu::SumParts sums;
  sums.values = parts;
  sums.groups = gains.numel();
  sums.parts = gpu::add_norm_parts(capacity);
  sums.columns = sums.part_stride = width;
  sums.group_stride = sums.parts * width;
  sums.outs = static_cast<float* const*>(gains.data_ptr());
  sums.accumulate = false;
  gpu::sum_parts(sums, stream_);
}

}  // namespace lengthwise
