#include "infer/greedy.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <numeric>

#include "core/device_gate.h"
#include "core/error.h"
#include "data/vocabulary.h"
#include "kernels/elementwise.h"

namespace lengthwise {
namespace {

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& gain) {
  return x * at::rsqrt(x.square().mean(-1, true) + kNormEpsilon) * gain;
}

}  // namespace

KeyValueCache::KeyValueCache(const Decoder& decoder, int64_t batch, int64_t capacity) : decoder_(decoder) {
  const ModelConfig& config = decoder.config();
  const at::TensorOptions options = decoder.parameters().values().options();
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    keys_.push_back(at::zeros({batch, config.heads, capacity, config.head_dim}, options));
    values_.push_back(at::zeros({batch, config.heads, capacity, config.head_dim}, options));
  }
  key_positions_ = at::zeros({batch, capacity}, options.dtype(at::kLong));
  filled_ = at::zeros({batch}, options.dtype(at::kLong));
}

at::Tensor KeyValueCache::step(const at::Tensor& tokens, const at::Tensor& positions) {
  return advance(tokens.unsqueeze(1), positions.unsqueeze(1), at::ones_like(tokens)).squeeze(1);
}

at::Tensor KeyValueCache::prefill(const at::Tensor& tokens, const at::Tensor& positions, const at::Tensor& lengths) {
  LENGTHWISE_CHECK(filled_.max().item<int64_t>() == 0, "prefill of a cache in use");
  return advance(tokens, positions, lengths);
}

void KeyValueCache::keep(const at::Tensor& rows) {
  for (at::Tensor& keys : keys_) keys = keys.index_select(0, rows);
  for (at::Tensor& values : values_) values = values.index_select(0, rows);
  key_positions_ = key_positions_.index_select(0, rows);
  filled_ = filled_.index_select(0, rows);
}

at::Tensor KeyValueCache::advance(const at::Tensor& tokens, const at::Tensor& positions, const at::Tensor& lengths) {
  at::NoGradGuard no_grad;
  std::shared_lock<std::shared_mutex> gate;
  if (filled_.is_cuda()) gate = std::shared_lock(device_gate());
  const ModelConfig& config = decoder_.config();
  const Encoding& encoding = decoder_.encoding();
  const int64_t batch = tokens.size(0);
  const int64_t time = tokens.size(1);
  // Where each new token goes in the cache. Padding of a prefill lands behind the real tokens and is overwritten later.
  const at::Tensor slots = filled_.unsqueeze(1) + at::arange(time, filled_.options());
  const int64_t capacity = key_positions_.size(1);
  LENGTHWISE_CHECK(slots.max().item<int64_t>() < capacity, "the cache holds only {} tokens", capacity);
  key_positions_.scatter_(1, slots, positions);
  const at::Tensor flat_positions = positions.reshape({-1});

  at::Tensor h = decoder_.embedding().value.index_select(0, tokens.reshape({-1}));
  if (const at::Tensor addition = encoding.embedding_addition(flat_positions); addition.defined()) h = h + addition;
  const Rotation rotation = encoding.rotation(flat_positions);

  // Keys up to the longest sequence are looked at; a key is visible when it is not newer than the query.
  const int64_t seen = slots.max().item<int64_t>() + 1;
  const at::Tensor allowed = (at::arange(seen, slots.options()).view({1, 1, -1}) <= slots.unsqueeze(-1)).unsqueeze(1);
  const at::Tensor key_positions = key_positions_.narrow(1, 0, seen);
  const int64_t distances =
      ((positions.unsqueeze(-1) - key_positions.unsqueeze(-2)).masked_fill(allowed.squeeze(1).logical_not(), 0))
          .max()
          .item<int64_t>() +
      1;
  ScoreTerms terms;
  for (int64_t index = 0; index < config.layers; ++index) {
    const LayerParameters& layer = decoder_.layer(index);
    const at::Tensor qkv = at::matmul(rms_norm(h, layer.attention_gain->value), layer.qkv->value)
                               .view({batch * time, 3, config.heads, config.head_dim});
    const auto heads_of = [&](int64_t part) {
      at::Tensor x = qkv.select(1, part);
      if (part < 2 && rotation.cos.defined()) {
        x = plain_rotate(x.transpose(0, 1), rotation.cos, rotation.sin).transpose(0, 1);
      }
      return x.reshape({batch, time, config.heads, config.head_dim}).transpose(1, 2);
    };
    const at::Tensor place = slots.view({batch, 1, time, 1}).expand({-1, config.heads, -1, config.head_dim});
    keys_[static_cast<size_t>(index)].scatter_(2, place, heads_of(1));
    values_[static_cast<size_t>(index)].scatter_(2, place, heads_of(2));
    if (index == 0 || encoding.per_layer()) {
      terms = encoding.score_terms(distances, index, {});
      terms.dense = encoding.dense_bias(positions, key_positions, index);
    }
    const PaddedHeads heads{heads_of(0),
                            keys_[static_cast<size_t>(index)].narrow(2, 0, seen),
                            values_[static_cast<size_t>(index)].narrow(2, 0, seen),
                            positions,
                            key_positions,
                            allowed};
    const AttentionView attention = plain_attention(heads, terms, decoder_.score_scale(), {});
    h = h + at::matmul(attention.out.transpose(1, 2).reshape({batch * time, -1}), layer.out->value);
    h = h +
        at::matmul(at::relu(at::matmul(rms_norm(h, layer.ff_gain->value), layer.ff_in->value)), layer.ff_out->value);
  }
  filled_ = filled_ + lengths;
  const at::Tensor logits =
      at::matmul(rms_norm(h, decoder_.final_gain().value) * decoder_.logit_scale(), decoder_.embedding().value.t());
  return logits.view({batch, time, -1});
}

namespace {

void generate_batch(const Decoder& decoder, std::span<const std::vector<int32_t>> prompts, int64_t limit,
                    std::span<std::vector<int32_t>> answers) {
  const auto batch = static_cast<int64_t>(prompts.size());
  int64_t longest = 0;
  for (const auto& prompt : prompts) longest = std::max(longest, static_cast<int64_t>(prompt.size()));
  at::Tensor tokens = at::zeros({batch, longest}, at::kLong);
  at::Tensor lengths = at::empty({batch}, at::kLong);
  for (int64_t b = 0; b < batch; ++b) {
    const auto& prompt = prompts[static_cast<size_t>(b)];
    for (size_t t = 0; t < prompt.size(); ++t)
      tokens.data_ptr<int64_t>()[b * longest + static_cast<int64_t>(t)] = prompt[t];
    lengths.data_ptr<int64_t>()[b] = static_cast<int64_t>(prompt.size());
  }
  KeyValueCache cache(decoder, batch, std::max(limit, longest));
  const at::Tensor positions = at::arange(longest, at::kLong).unsqueeze(0).expand({batch, -1}).contiguous();
  const at::Device device = decoder.parameters().values().device();
  lengths = lengths.to(device);
  const at::Tensor all = cache.prefill(tokens.to(device), positions.to(device), lengths);
  at::Tensor logits = all.gather(1, (lengths - 1).view({-1, 1, 1}).expand({-1, 1, all.size(2)})).squeeze(1);

  // `alive` maps rows of the shrinking batch to prompts.
  std::vector<int64_t> alive(static_cast<size_t>(batch));
  std::iota(alive.begin(), alive.end(), int64_t{0});
  while (true) {
    const at::Tensor next = logits.argmax(-1).to(at::kCPU);
    std::vector<int64_t> rows;
    std::vector<int64_t> still;
    for (size_t row = 0; row < alive.size(); ++row) {
      const int64_t token = next.const_data_ptr<int64_t>()[row];
      const auto prompt = static_cast<size_t>(alive[row]);
      const auto total = static_cast<int64_t>(prompts[prompt].size() + answers[prompt].size());
      if (token == Vocabulary::kEos || total >= limit) continue;
      answers[prompt].push_back(static_cast<int32_t>(token));
      if (total + 1 >= limit) continue;
      rows.push_back(static_cast<int64_t>(row));
      still.push_back(alive[row]);
    }
    if (rows.empty()) return;
    const at::Tensor kept = at::tensor(rows, at::kLong);
    const at::Tensor current = next.index_select(0, kept);
    if (rows.size() < alive.size()) cache.keep(kept.to(device));
    alive = std::move(still);
    at::Tensor position = at::empty({static_cast<int64_t>(alive.size())}, at::kLong);
    for (size_t row = 0; row < alive.size(); ++row) {
      const auto prompt = static_cast<size_t>(alive[row]);
      position.data_ptr<int64_t>()[row] = static_cast<int64_t>(prompts[prompt].size() + answers[prompt].size()) - 1;
    }
    logits = cache.step(current.to(device), position.to(device));
  }
}

}  // namespace

std::vector<std::vector<int32_t>> generate_greedy(const Decoder& decoder,
                                                  const std::vector<std::vector<int32_t>>& prompts,
                                                  const GreedyOptions& options,
                                                  const std::function<void(int64_t)>& progress) {
  std::vector<std::vector<int32_t>> answers(prompts.size());
  const auto size = static_cast<size_t>(options.batch_size);
  for (size_t begin = 0; begin < prompts.size(); begin += size) {
    const size_t count = std::min(size, prompts.size() - begin);
    generate_batch(decoder, std::span(prompts).subspan(begin, count), options.max_total_tokens,
                   std::span(answers).subspan(begin, count));
    if (progress) progress(static_cast<int64_t>(begin + count));
  }
  return answers;
}

}  // namespace lengthwise
