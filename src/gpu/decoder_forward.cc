// The forward pass of gpu/decoder_passes.h.
#include <ATen/ATen.h>

#include "gpu/decoder_passes.h"
#include "gpu_kernels/embedding.h"
#include "gpu_kernels/key_decay.h"
#include "gpu_kernels/norm.h"
#include "gpu_kernels/rows.h"

namespace lengthwise {

void DecoderPasses::forward(const PassShape& shape, const EncodingValues& values, double dropout) {
  const ModelConfig& config = decoder_.config();
  const int64_t width = config.width;
  const int64_t inner = config.heads * config.head_dim;
  const int64_t row_bytes = gpu::bytes_of(storage_);
  gpu::EmbedForward embed;
  embed.capacity = shape.tokens;
  embed.width = width;
  embed.rows = &state_->tokens;
  embed.table = decoder_.embedding().value.const_data_ptr<float>();
  embed.tokens = batch_.tokens;
  if (values.addition.defined()) {
    embed.addition = values.addition.const_data_ptr<float>();
    embed.at = places(values);
  }
  embed.dropout = drop(dropout, DropoutPlace::embedding);
  embed.x = h_;
  gpu::embed_forward(embed, stream_);
  gather_values(shape, values);
  map_pairs(shape, values);
  pad_weights();
  gpu::attention_plan(attention(shape, values, dropout, 0), plan_, stream_);

  gpu::AddNormForward norm;
  norm.storage = storage_;
  norm.width = width;
  norm.capacity = shape.tokens;
  norm.rows = &state_->tokens;
  norm.x = h_;
  for (int64_t index = 0; index < config.layers; ++index) {
    const LayerParameters& parameters = decoder_.layer(index);
    const Layer& layer = layers_[static_cast<size_t>(index)];
    norm.branch = index == 0 ? nullptr : branch_;
    norm.dropout = drop(dropout, DropoutPlace::ff_out, index - 1);
    norm.gain = parameters.attention_gain->value.const_data_ptr<float>();
    norm.sum = layer.sum;
    norm.inverse = layer.inverse;
    norm.normed = layer.normed;
    gpu::add_norm_forward(norm, stream_);
    products_.multiply(layer.normed, width, qkv_weights(index), layer.qkv, shape.tokens, width, qkv_columns(index));
    if (values.decays[static_cast<size_t>(index)])
      gpu::key_decay_forward(decay_of(shape, values, index), layer.key_bias, stream_);
    attend_(index, attention(shape, values, dropout, index), layer.mixed, layer.log_sum);
    norm.x = layer.sum;
    const void* mixed = layer.mixed;
    int64_t rows = shape.tokens;
    // Nothing but the rows of targets is wanted from the last attention on.
    if (index + 1 == config.layers && !shape.every_token) {
      const gpu::RowJob picked[] = {{layer.mixed, mixed_rows_, inner * row_bytes}, {layer.sum, h_rows_, width * 4}};
      gpu::gather_rows(batch_.loss_rows, shape.targets, picked, stream_);
      norm.x = h_rows_;
      mixed = mixed_rows_;
      rows = norm.capacity = shape.targets;
      norm.rows = &state_->targets;
    }
    products_.multiply(mixed, inner, weights(parameters.out), branch_, rows, inner, width);
    norm.branch = branch_;
    norm.dropout = drop(dropout, DropoutPlace::attention_out, index);
    norm.gain = parameters.ff_gain->value.const_data_ptr<float>();
    norm.sum = layer.sum_mid;
    norm.inverse = layer.inverse_mid;
    norm.normed = layer.normed_mid;
    gpu::add_norm_forward(norm, stream_);
    products_.multiply_rectified(layer.normed_mid, weights(parameters.ff_in), layer.hidden, rows, width,
                                 config.ff_width, drop(dropout, DropoutPlace::ff_hidden, index));
    products_.multiply(layer.hidden, config.ff_width, weights(parameters.ff_out), branch_, rows, config.ff_width,
                       width);
    norm.x = layer.sum_mid;
  }
  norm.branch = branch_;
  norm.dropout = drop(dropout, DropoutPlace::ff_out, config.layers - 1);
  norm.gain = decoder_.final_gain().value.const_data_ptr<float>();
  norm.sum = h_rows_;
  norm.inverse = inverse_final_;
  norm.normed = head_;
  norm.normed_dropout = drop(dropout, DropoutPlace::final);
  norm.normed_scale = static_cast<float>(decoder_.logit_scale());
  gpu::add_norm_forward(norm, stream_);
  head_forward(shape);
}

}  // namespace lengthwise
