// The encoding's own columns of the query-key-value products, in both passes of gpu/decoder_passes.h.
#include <ATen/ATen.h>

#include "gpu/decoder_passes.h"
#include "gpu_kernels/rows.h"

namespace lengthwise {

int64_t DecoderPasses::qkv_columns(int64_t layer) const {
  const int64_t columns = decoder_.layer(layer).qkv->shape[1];
  const bool plain = columns == 3 * decoder_.config().heads * decoder_.config().head_dim;
  return plain ? columns : (columns + 7) / 8 * 8;
}

bool DecoderPasses::pads(int64_t layer) const {
  return qkv_columns(layer) != decoder_.layer(layer).qkv->shape[1];
}

const void* DecoderPasses::qkv_weights(int64_t layer) const {
  const at::Tensor& padded = padded_weights_[static_cast<size_t>(layer)];
  return padded.defined() ? padded.const_data_ptr() : weights(decoder_.layer(layer).qkv);
}

void DecoderPasses::pad_weights() {
  std::vector<gpu::ColumnJob> jobs;
  for (int64_t layer = 0; layer < decoder_.config().layers; ++layer) {
    if (!pads(layer)) continue;
    const Parameter* own = decoder_.layer(layer).qkv;
    jobs.push_back({weights(own), padded_weights_[static_cast<size_t>(layer)].data_ptr(), own->shape[0], own->shape[1],
                    qkv_columns(layer)});
  }
  gpu::copy_columns(storage_, jobs, stream_);
}

gpu::KeyDecay DecoderPasses::decay_of(const PassShape& shape, const EncodingValues& values, int64_t layer) const {
  const ModelConfig& config = decoder_.config();
  const KeyDecay& stated = *values.decays[static_cast<size_t>(layer)];
  gpu::KeyDecay args;
  args.storage = storage_;
  args.token_capacity = shape.tokens;
  args.sequences = shape.sequences;
  args.heads = config.heads;
  args.offsets = batch_.offsets;
  args.columns = static_cast<const char*>(layers_[static_cast<size_t>(layer)].qkv) +
                 3 * config.heads * config.head_dim * gpu::bytes_of(storage_);
  args.stride = qkv_columns(layer);
  args.constant = stated.constant.const_data_ptr<float>();
  args.sign = static_cast<float>(stated.sign);
  return args;
}

void DecoderPasses::learn_qkv(int64_t layer, const void* dy, int64_t rows) {
  const Parameter* own = decoder_.layer(layer).qkv;
  const void* x = layers_[static_cast<size_t>(layer)].normed;
  if (!pads(layer)) return learn(x, own->shape[0], dy, own, rows);
  side_->follow(stream_);
  const GradientPlace gradient = gradient_place(own);
  side_->products().weight_gradient(x, own->shape[0], dy, padded_gradient_.data_ptr(), gradient.storage, rows,
                                    own->shape[0], qkv_columns(layer));
  const gpu::ColumnJob job{padded_gradient_.data_ptr(), gradient.to, own->shape[0], qkv_columns(layer), own->shape[1]};
  gpu::copy_columns(gradient.storage, {&job, 1}, side_->stream());
}

void DecoderPasses::learn_decay(const PassShape& shape, const EncodingValues& values, int64_t layer, void* d_qkv) {
  const ModelConfig& config = decoder_.config();
  const int64_t inner = config.heads * config.head_dim;
  gpu::KeyDecayGradients gradients;
  gradients.d_bias = d_key_bias_;
  gradients.d_columns = static_cast<char*>(d_qkv) + 3 * inner * gpu::bytes_of(storage_);
  gradients.filler = qkv_columns(layer) - 3 * inner - config.heads;
  gradients.constant_parts = constant_parts_ + layer * shape.sequences * config.heads;
  gpu::key_decay_backward(decay_of(shape, values, layer), gradients, stream_);
}

}  // namespace lengthwise
