#include "model/packed_cache.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "model/streams.h"

namespace lengthwise {

PackedCache::PackedCache(Decoder& decoder, Arithmetic arithmetic, int64_t batch, int64_t capacity)
    : placing_(decoder.placing()), engine_(decoder, arithmetic) {
  at::NoGradGuard no_grad;
  const ModelConfig& config = decoder.config();
  const at::TensorOptions options = arithmetic == Arithmetic::bf16
                                        ? at::TensorOptions(at::kBFloat16)
                                        : at::TensorOptions(decoder.parameters().values().scalar_type());
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    kept_.push_back({at::empty({batch, config.heads, capacity, config.head_dim}, options),
                     at::empty({batch, config.heads, capacity, config.head_dim}, options)});
  }
  // Of any token: tables are the same for all.
  EncodingContext any = context_of(decoder, at::arange(1), {});
  any.distances = capacity;
  values_ = fused_values(decoder.encoding(), config.layers, std::move(any));
  engine_.fix_weights();
  engine_.attend_with([this](int64_t layer, const AttentionInputs& inputs, at::Tensor& out, at::Tensor& log_sum) {
    KeptKeys& kept = kept_[static_cast<size_t>(layer)];
    if (!places_.defined()) {
      attention_forward(inputs, out, log_sum);
      return store_keys(inputs, first_, kept);
    }
    AttentionInputs fresh = inputs;
    fresh.table = values_.of(layer).table;
    cached_attention(fresh, places_, kept, out);
  });
}

at::Tensor PackedCache::read(std::span<const std::vector<int32_t>> prompts, std::span<const TextPositions> placed) {
  std::vector<at::Tensor> best;
  places_.reset();
  for_groups(prompts, engine_.token_budget(), [&](size_t first, std::span<const std::vector<int32_t>> group) {
    first_ = static_cast<int64_t>(first);
    Batch batch = prompt_batch(group);
    for (size_t rule = 0; rule < placed.size(); ++rule) {
      std::vector<double> positions;
      for (const std::vector<double>& its : std::span(placed[rule]).subspan(first, group.size())) {
        positions.insert(positions.end(), its.begin(), its.end());
      }
      batch.streams.push_back(stream_tensor(placing_.rules[rule], positions));
    }
    best.push_back(engine_.score(batch).best);
  });
  return at::cat(best);
}

at::Tensor PackedCache::step(const at::Tensor& tokens, const at::Tensor& positions,
                             const std::vector<at::Tensor>& streams) {
  places_ = positions;
  Batch batch = token_batch(tokens, positions);
  batch.streams = streams;
  return engine_.score(batch).best;
}

void PackedCache::keep(const at::Tensor& rows) {
  for (KeptKeys& kept : kept_) {
    kept.keys = kept.keys.index_select(0, rows);
    kept.values = kept.values.index_select(0, rows);
  }
}

}  // namespace lengthwise
