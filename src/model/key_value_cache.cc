#include "model/key_value_cache.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <bit>
#include <map>

#include "core/error.h"
#include "kernels/plain_attention.h"
#include "model/plain_layer.h"
#include "model/streams.h"

namespace lengthwise {
KeyValueCache::KeyValueCache(const Decoder& decoder, int64_t batch, int64_t capacity) : decoder_(decoder) {
  const ModelConfig& config = decoder.config();
  const at::TensorOptions options = decoder.parameters().values().options();
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    keys_.push_back(at::zeros({batch, config.heads, capacity, config.head_dim}, options));
    values_.push_back(at::zeros({batch, config.heads, capacity, config.head_dim}, options));
    states_.push_back(at::zeros({batch, capacity, decoder.encoding().state_size()}, options));
    features_.push_back(at::zeros({batch, capacity, column_count(decoder.encoding().features(layer))}, options));
  }
  key_positions_ = at::zeros({batch, capacity}, options.dtype(at::kLong));
  for (const PositionRule& rule : decoder.placing().rules) {
    key_streams_.push_back(at::zeros({batch, capacity}, options.dtype(rule.whole() ? at::kLong : at::kDouble)));
  }
  filled_ = at::zeros({batch}, options.dtype(at::kLong));
}

at::Tensor KeyValueCache::step(const at::Tensor& tokens, const at::Tensor& positions, int64_t seen,
                               const at::Tensor& advance, const std::vector<at::Tensor>& streams) {
  const at::Tensor lengths = advance.defined() ? advance : at::ones_like(tokens);
  std::vector<at::Tensor> columns;
  for (const at::Tensor& stream : streams) columns.push_back(stream.unsqueeze(1));
  return logits(this->advance(tokens.unsqueeze(1), positions.unsqueeze(1), seen, lengths, columns).squeeze(1));
}

at::Tensor KeyValueCache::fill(const at::Tensor& tokens, const at::Tensor& positions, const at::Tensor& lengths,
                               const std::vector<at::Tensor>& streams, bool alike) {
  LENGTHWISE_CHECK(empty_, "prefill of a cache in use");
  return advance(tokens, positions, tokens.size(1), lengths, streams, alike);
}

at::Tensor KeyValueCache::prefill(const at::Tensor& tokens, const at::Tensor& positions, const at::Tensor& lengths,
                                  const std::vector<at::Tensor>& streams) {
  return logits(fill(tokens, positions, lengths, streams));
}

at::Tensor KeyValueCache::read(std::span<const std::vector<int32_t>> prompts, std::span<const TextPositions> placed) {
  const int64_t batch = filled_.size(0);
  int64_t longest = 1;
  for (const auto& prompt : prompts) longest = std::max(longest, static_cast<int64_t>(prompt.size()));
  const at::Tensor tokens = at::zeros({batch, longest}, at::kLong);
  at::Tensor lengths = at::ones({batch}, at::kLong);
  for (size_t b = 0; b < prompts.size(); ++b) {
    std::copy(prompts[b].begin(), prompts[b].end(), tokens.data_ptr<int64_t>() + static_cast<int64_t>(b) * longest);
    lengths.data_ptr<int64_t>()[b] = static_cast<int64_t>(prompts[b].size());
  }
  lengths = lengths.to(filled_.device());
  const at::Tensor positions = at::arange(longest, filled_.options()).unsqueeze(0).expand({batch, -1}).contiguous();
  std::vector<at::Tensor> streams;
  for (size_t rule = 0; rule < placed.size(); ++rule) {
    const at::Tensor rows = at::zeros({batch, longest}, at::kDouble);
    for (size_t b = 0; b < placed[rule].size(); ++b) {
      std::ranges::copy(placed[rule][b], rows.data_ptr<double>() + static_cast<int64_t>(b) * longest);
    }
    streams.push_back(rows.to(filled_.device(), key_streams_[rule].scalar_type()));
  }
  const at::Tensor all = fill(tokens.to(filled_.device()), positions, lengths, streams, /*alike=*/true);
  // Of the last token alone: with a large vocabulary the logits of all would be most of the work and the memory.
  return logits(all.gather(1, (lengths - 1).view({-1, 1, 1}).expand({-1, 1, all.size(2)})).squeeze(1));
}

void KeyValueCache::clear() {
  filled_.zero_();
  empty_ = true;
}

void KeyValueCache::keep(const at::Tensor& rows) {
  for (at::Tensor& keys : keys_) keys = keys.index_select(0, rows);
  for (at::Tensor& values : values_) values = values.index_select(0, rows);
  for (at::Tensor& features : features_) features = features.index_select(0, rows);
  for (at::Tensor& states : states_) states = states.index_select(0, rows);
  key_positions_ = key_positions_.index_select(0, rows);
  for (at::Tensor& stream : key_streams_) stream = stream.index_select(0, rows);
  filled_ = filled_.index_select(0, rows);
}

at::Tensor KeyValueCache::advance(const at::Tensor& tokens, const at::Tensor& positions, int64_t seen,
                                  const at::Tensor& lengths, const std::vector<at::Tensor>& streams, bool alike) {
  at::NoGradGuard no_grad;
  LENGTHWISE_CHECK(seen <= capacity(), "the cache holds only {} tokens, not {}", capacity(), seen);
  empty_ = false;
  const ModelConfig& config = decoder_.config();
  const Encoding& encoding = decoder_.encoding();
  const int64_t batch = tokens.size(0);
  const int64_t time = tokens.size(1);
  // Where each new token goes in the cache. Padding of a prefill lands behind the real tokens and is overwritten later.
  const at::Tensor slots = filled_.unsqueeze(1) + at::arange(time, filled_.options());
  key_positions_.scatter_(1, slots, positions);
  EncodingContext context;
  context.positions = positions.reshape({-1});
  context.streams = streams_of(decoder_, streams, positions);
  for (size_t rule = 0; rule < context.streams.size(); ++rule) {
    PositionStream& stream = context.streams[rule];
    key_streams_[rule].scatter_(1, slots, stream.positions);
    stream.query_positions = stream.positions;
    stream.key_positions = key_streams_[rule].narrow(1, 0, seen);
    stream.positions = stream.positions.reshape({-1});
  }

  PlainRows rows = plain_embedding(decoder_, tokens.reshape({-1}), context);

  // A key is visible when it is not newer than the query.
  const at::Tensor allowed = (at::arange(seen, slots.options()).view({1, 1, -1}) <= slots.unsqueeze(-1)).unsqueeze(1);
  const at::Tensor key_positions = key_positions_.narrow(1, 0, seen);
  // Positions of a sequence are consecutive. Powers of two, so that an encoding is asked for few different numbers.
  const auto distances = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(seen)));
  context.distances = distances;
  context.query_positions = alike ? positions.narrow(0, 0, 1) : positions;
  context.key_positions = alike ? key_positions.narrow(0, 0, 1) : key_positions;
  std::map<int64_t, LayerValues> by_variant;
  const at::Tensor place = slots.view({batch, 1, time, 1}).expand({-1, config.heads, -1, config.head_dim});
  for (int64_t index = 0; index < config.layers; ++index) {
    at::Tensor& keys = keys_[static_cast<size_t>(index)];
    at::Tensor& values = values_[static_cast<size_t>(index)];
    // Keeps what is known of the new tokens; gives that of all.
    const auto keep = [&](at::Tensor& kept, const at::Tensor& fresh) {
      kept.scatter_(1, slots.unsqueeze(-1).expand({-1, -1, fresh.size(-1)}), fresh);
      return kept.narrow(1, 0, seen);
    };
    const auto attend = [&](const at::Tensor& qkv, const at::Tensor& features, at::Tensor& state) {
      if (features.defined()) {
        context.query_features = features.view({batch, time, -1});
        context.key_features = keep(features_[static_cast<size_t>(index)], context.query_features);
      }
      if (state.defined()) {
        context.query_state = state.view({batch, time, -1});
        context.key_state = keep(states_[static_cast<size_t>(index)], context.query_state);
      }
      const auto [found, fresh] = by_variant.try_emplace(encoding.variant(index));
      if (fresh || features.defined() || state.defined()) found->second = encoding.layer(index, context);
      const LayerValues& layer_values = found->second;
      const at::Tensor parts = plain_parts(qkv, layer_values).view({batch, time, 3, config.heads, config.head_dim});
      const auto part = [&](int64_t which) { return parts.select(2, which).transpose(1, 2); };
      keys.scatter_(2, place, part(1));
      values.scatter_(2, place, part(2));
      const PaddedHeads heads{part(0),   keys.narrow(2, 0, seen), values.narrow(2, 0, seen),
                              positions, key_positions,           allowed};
      const AttentionView attention = plain_attend(decoder_, index, heads, layer_values, context);
      if (state.defined()) {
        state = encoding.state_behind_attention(index, context, attention.weights).reshape({batch * time, -1});
      }
      return attention.out.transpose(1, 2).reshape({batch * time, -1});
    };
    rows = plain_layer(decoder_, index, rows, attend);
  }
  filled_.add_(lengths);
  return rows.h.view({batch, time, config.width});
}

at::Tensor KeyValueCache::logits(const at::Tensor& h) const {
  at::NoGradGuard no_grad;
  return plain_head(decoder_, h);
}

}  // namespace lengthwise
