#include "gpu/decoder_passes.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "gpu_kernels/embedding.h"
#include "gpu_kernels/norm.h"
#include "gpu_kernels/optimizer.h"
#include "gpu_kernels/sort_rows.h"

namespace lengthwise {
namespace {

bool has_small_gain(const Decoder& decoder) {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> smallest;
  for (int64_t index = 0; index < decoder.config().layers; ++index) {
    for (const Parameter* gain : {decoder.layer(index).attention_gain, decoder.layer(index).ff_gain}) {
      smallest.push_back(gain->value.abs().min());
    }
  }
  return at::stack(smallest).min().item<float>() < gpu::kSmallGain;
}

}  // namespace

DecoderPasses::DecoderPasses(Decoder& decoder, at::Tensor mirror, bool tf32, bool training, cudaStream_t stream,
                             int64_t head_rows)
    : decoder_(decoder),
      mirror_(std::move(mirror)),
      storage_(mirror_.defined() ? gpu::Storage::bfloat16 : gpu::Storage::float32),
      training_(training),
      head_rows_(head_rows > 0 ? head_rows : head_rows_for(padded_vocabulary())),
      stream_(stream),
      products_(storage_, tf32, stream),
      attend_([stream](int64_t, const gpu::Attention& args, void* out, float* log_sum) {
        gpu::attention_forward(args, out, log_sum, stream);
      }),
      layers_(static_cast<size_t>(decoder.config().layers)) {
  streams_.resize(decoder.placing().rules.size());
  probe(encoding_values(decoder, 1, 1));
  std::vector<double> turns = training ? decoder.encoding().turns() : std::vector<double>();
  if (!turns.empty()) turns.push_back(0);
  for (const double done : turns) {
    probe(encoding_values(decoder, 1, 1, [&](int64_t) { return StepNoise(0, uint64_t{0}, 0, done); }));
  }
  padded_weights_.resize(layers_.size());
  for (int64_t index = 0; index < decoder.config().layers; ++index) {
    if (!pads(index)) continue;
    const at::TensorOptions options = mirror_.defined() ? mirror_.options() : decoder.parameters().values().options();
    padded_weights_[static_cast<size_t>(index)] =
        at::empty({decoder.config().width, qkv_columns(index)}, options.requires_grad(false));
    if (training) padded_gradient_ = at::empty_like(padded_weights_[static_cast<size_t>(index)]);
  }
  state_memory_.add(state_, 1);
  state_memory_.allocate();
  step_seed_ = at::from_blob(&state_->dropout_seed, {1}, at::TensorOptions(at::kCUDA).dtype(at::kLong));
  if (!training) return;
  side_.emplace(storage_, tf32);
  keeps_sums_ = has_small_gain(decoder);
  if (mirror_.defined()) {
    product_gradients_ = at::zeros({decoder.parameters().products()}, mirror_.options());
    product_squares_ = at::zeros({decoder.config().layers * gpu::kSquareBlocks}, mirror_.options().dtype(at::kDouble));
  }
  find_gains();
}

bool DecoderPasses::reserve(const PassShape& shape) {
  if (memory_ && shape.fits_in(room_)) return false;
  const auto with_slack = [](int64_t wanted, int64_t had) { return std::max(wanted + wanted / 8, had); };
  room_ = {std::max(shape.sequences, room_.sequences), with_slack(shape.tokens, room_.tokens),
           with_slack(shape.targets, room_.targets), std::max(shape.longest, room_.longest)};
  memory_.reset();
  memory_.emplace();
  lay_out(room_);
  memory_->allocate();
  if (!training_) std::fill(layers_.begin() + 1, layers_.end(), layers_.front());
  place_sums();
  if (token_index_ != nullptr) {
    at::Tensor index = at::from_blob(token_index_, {room_.tokens}, at::TensorOptions(at::kCUDA).dtype(at::kInt));
    at::arange_out(index, room_.tokens);
  }
  for (void* stream : streams_)
    gpu::check_cuda(cudaMemsetAsync(stream, 0, static_cast<size_t>(8 * room_.tokens), stream_), "positions");
  return true;
}

void DecoderPasses::place_sums() {
  layers_.front().sum = h_;  // the first norm adds nothing to what it sees
  if (keeps_sums_) return;
  for (Layer& layer : layers_) layer.sum = layer.sum_mid = h_;
  layers_.back().sum_mid = h_rows_;
}

void DecoderPasses::lay_out(const PassShape& shape) {
  const ModelConfig& config = decoder_.config();
  const int64_t inner = config.heads * config.head_dim;
  const int64_t tokens = shape.tokens;
  const int64_t targets = shape.targets;
  int64_t most_columns = 0;
  for (int64_t index = 0; index < config.layers; ++index) most_columns = std::max(most_columns, qkv_columns(index));
  DeviceMemory& memory = *memory_;
  memory.add(batch_.tokens, tokens);
  memory.add(batch_.positions, tokens);
  memory.add(batch_.target_at, tokens);
  if (values_by_token(decoder_, /*from_zero=*/false)) memory.add(token_index_, tokens);
  for (void*& stream : streams_) memory.add_bytes(&stream, 8 * tokens);
  memory.add(batch_.offsets, shape.sequences + 1);
  memory.add(batch_.loss_rows, targets);
  memory.add(batch_.targets, targets);
  // Without a backward pass every layer uses the first one's buffers.
  for (size_t index = 0; index < (training_ ? layers_.size() : 1); ++index) {
    Layer& layer = layers_[index];
    memory.add(layer.inverse, tokens);
    memory.add(layer.log_sum, tokens * config.heads);
    memory.add(layer.inverse_mid, tokens);
    activations(&layer.normed, tokens * config.width);
    activations(&layer.qkv, tokens * most_columns);
    memory.add(layer.key_bias, decays_ ? tokens * config.heads : 0);
    activations(&layer.mixed, tokens * inner);
    activations(&layer.normed_mid, tokens * config.width);
    activations(&layer.hidden, tokens * config.ff_width);
    if (!keeps_sums_) continue;
    memory.add(layer.sum, index == 0 ? 0 : tokens * config.width);
    memory.add(layer.sum_mid, (index + 1 == layers_.size() ? targets : tokens) * config.width);
  }
  for (TokenValues& values : token_values_) {
    for (float** turn : {&values.cos, &values.sin}) memory.add(*turn, values.turns ? tokens * config.head_dim / 2 : 0);
    for (float** turn : {&values.key_cos, &values.key_sin})
      memory.add(*turn, values.turns_keys ? tokens * config.head_dim / 2 : 0);
    memory.add(values.query_scale, values.scales ? tokens * config.heads : 0);
  }
  gpu::Attention widest;
  widest.storage = storage_;
  widest.token_capacity = tokens;
  widest.sequences = shape.sequences;
  widest.longest = shape.longest;
  memory.add(plan_, std::max<int64_t>(4, gpu::attention_plan_size(widest)));
  activations(&branch_, tokens * config.width);
  activations(&mixed_rows_, targets * inner);
  memory.add(h_, tokens * config.width);
  memory.add(h_rows_, targets * config.width);
  memory.add(inverse_final_, targets);
  activations(&head_, targets * config.width);
  const int64_t logits = std::min(targets, head_rows_) * padded_vocabulary();
  memory.add(logits_, logits);
  memory.add(losses_, targets);
  memory.add(best_, targets);
  if (!training_) return;
  activations(&d_logits_, logits);
  activations(&d_head_, targets * config.width);
  for (LayerGradients& layer : d_layers_) {
    activations(&layer.ff_branch, tokens * config.width);
    activations(&layer.hidden, tokens * config.ff_width);
    activations(&layer.attention_branch, tokens * config.width);
    activations(&layer.qkv, tokens * most_columns);
  }
  activations(&d_normed_, tokens * config.width);
  activations(&d_mixed_, tokens * inner);
  activations(&d_mixed_rows_, targets * inner);
  memory.add(d_h_, tokens * config.width);
  memory.add(d_h_rows_, targets * config.width);
  memory.add(delta_, tokens * config.heads);
  memory.add(token_order_, tokens);
  memory.add(sort_scratch_, gpu::sort_rows_scratch(tokens));
  memory.add(borders_, 2 * config.width * (tokens / gpu::kEmbedChunk + 1));
  memory.add(token_gain_parts_, (2 * config.layers - 1) * gpu::add_norm_parts(tokens) * config.width);
  memory.add(target_gain_parts_, 2 * gpu::add_norm_parts(targets) * config.width);
  if (addition_learns_) memory.add(position_order_, tokens);
  if (tables_learn_) {
    const int64_t parts = gpu::most_attention_table_parts(shape.sequences, config.heads);
    memory.add(table_parts_, config.layers * parts * config.heads * shape.longest);
  }
  if (scales_learn_) memory.add(d_query_scale_, config.layers * tokens * config.heads);
  if (!decays_) return;
  memory.add(d_key_bias_, tokens * config.heads);
  memory.add(constant_parts_, config.layers * shape.sequences * config.heads);
}

gpu::DeviceBatch DecoderPasses::batch(const PassShape& shape) const {
  gpu::DeviceBatch batch = batch_;
  batch.sequences = shape.sequences;
  batch.token_capacity = shape.tokens;
  batch.target_capacity = shape.targets;
  batch.longest = shape.longest;
  return batch;
}

const void* DecoderPasses::weights(const Parameter* parameter) const {
  if (!mirror_.defined()) return parameter->value.const_data_ptr();
  return mirror_.const_data_ptr<at::BFloat16>() + place_of(parameter);
}

int64_t DecoderPasses::place_of(const Parameter* parameter) const {
  return parameter->value.const_data_ptr<float>() - decoder_.parameters().values().const_data_ptr<float>();
}

StepNoise DecoderPasses::noise(double dropout, int64_t layer, double done) const {
  return {dropout, step_seed_, place_number(DropoutPlace::encoding, layer), done};
}

gpu::DropoutArgs DecoderPasses::drop(double probability, DropoutPlace place, int64_t layer) const {
  if (probability == 0) return {};
  return {probability, &state_->dropout_seed, static_cast<int64_t>(place), layer};
}

gpu::Attention DecoderPasses::attention(const PassShape& shape, const EncodingValues& values, double dropout,
                                        int64_t layer) const {
  const ModelConfig& config = decoder_.config();
  gpu::Attention args;
  args.storage = storage_;
  args.token_capacity = shape.tokens;
  args.sequences = shape.sequences;
  args.heads = config.heads;
  args.dim = config.head_dim;
  args.longest = shape.longest;
  args.qkv = layers_[static_cast<size_t>(layer)].qkv;
  args.qkv_stride = qkv_columns(layer);
  args.offsets = batch_.offsets;
  args.scale = static_cast<float>(decoder_.score_scale());
  const LayerValues& stated = values.layers.of(layer);
  const TokenValues& tokens = token_values_[values.layers.entry_of(layer)];
  if (stated.query.cos.defined()) {
    args.cos = tokens.cos;
    args.sin = tokens.sin;
    args.pairs = stated.query.cos.size(1);
  }
  if (stated.key.cos.defined()) {
    args.key_cos = tokens.key_cos;
    args.key_sin = tokens.key_sin;
  }
  if (stated.query_scale.defined()) args.query_scale = tokens.query_scale;
  if (stated.table.defined()) {
    args.table = stated.table.const_data_ptr<float>();
    args.distances = stated.table.size(1);
  }
  if (stated.dense.defined()) {
    args.dense = stated.dense.const_data_ptr<float>();
    args.dense_places = stated.dense.size(3);
    args.dense_shared = stated.dense.size(0) == 1;
  }
  if (values.decays[static_cast<size_t>(layer)]) args.key_bias = layers_[static_cast<size_t>(layer)].key_bias;
  args.window = stated.window;
  args.dropout = drop(dropout, DropoutPlace::weights, layer);
  args.plan = plan_;
  // The map is made for layers that add nothing else.
  const at::Tensor& map = dense_maps_[values.layers.entry_of(layer)];
  if (map.defined() && gpu::attention_dense_map_size(args) > 0) args.dense_map = map.const_data_ptr();
  return args;
}

}  // namespace lengthwise
