#include "model/inspect.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "batch/prompts.h"
#include "data/vocabulary.h"
#include "kernels/plain_attention.h"
#include "model/plain_layer.h"
#include "model/streams.h"

namespace lengthwise {
namespace {

class Pass {
 public:
  Pass(const Decoder& decoder, const Inspection& inspection, Arithmetic arithmetic)
      : decoder_(decoder), inspection_(inspection), arithmetic_(arithmetic) {}

  void run(int64_t sequence, const at::Tensor& tokens, const EncodingContext& placed) {
    const ModelConfig& config = decoder_.config();
    const int64_t layers = inspection_.layers > 0 ? std::min(inspection_.layers, config.layers) : config.layers;
    PlainRows rows = plain_embedding(decoder_, tokens, placed);
    for (int64_t index = 0; index < layers; ++index) {
      const PlainAttend heads = [&](const at::Tensor& qkv, const at::Tensor& features, at::Tensor& state) {
        return attend(index, sequence, qkv, features, placed, state);
      };
      const PlainRows after = plain_layer(decoder_, index, rows, heads, {.dropout = {}, .arithmetic = arithmetic_});
      if (inspection_.layer) {
        inspection_.layer({.layer = index, .sequence = sequence, .before = rows.h, .after = after.h});
      }
      rows = after;
    }
  }

 private:
  /// What the heads of a layer put together, [token, head * dim].
  at::Tensor attend(int64_t index, int64_t sequence, const at::Tensor& qkv, const at::Tensor& features,
                    const EncodingContext& placed, at::Tensor& state) const {
    const ModelConfig& config = decoder_.config();
    const int64_t tokens = qkv.size(0);
    const at::Tensor places = placed.positions.unsqueeze(0);
    EncodingContext context = placed;
    context.distances = tokens;
    context.key_positions = places;
    for (PositionStream& stream : context.streams) stream.key_positions = stream.positions.unsqueeze(0);
    const auto ask_about = [&](int64_t begin, int64_t count) {
      context.query_positions = places.narrow(1, begin, count);
      for (PositionStream& stream : context.streams)
        stream.query_positions = stream.key_positions.narrow(1, begin, count);
    };
    // Values of pairs are asked for block by block below.
    ask_about(0, 1);
    if (features.defined()) {
      context.key_features = features.unsqueeze(0);
      context.query_features = context.key_features.narrow(1, 0, 1);
    }
    if (state.defined()) {
      context.key_state = state.unsqueeze(0);
      context.query_state = context.key_state.narrow(1, 0, 1);
    }
    const LayerValues whole = decoder_.encoding().layer(index, context);
    const std::vector<at::Tensor> parts = plain_parts(qkv, whole).permute({1, 2, 0, 3}).unbind(0);
    const at::Tensor& q = parts[0];
    const at::Tensor& k = parts[1];
    const at::Tensor& v = parts[2];
    const int64_t step = std::max<int64_t>(1, inspection_.block / (config.heads * tokens));
    const at::Tensor keys = at::arange(tokens, places.options());
    std::vector<at::Tensor> rows, states;
    for (int64_t begin = 0; begin < tokens; begin += step) {
      const int64_t count = std::min(step, tokens - begin);
      const at::Tensor queries = keys.narrow(0, begin, count);
      at::Tensor allowed = keys.unsqueeze(0) <= queries.unsqueeze(1);
      if (!inspection_.causal) allowed = at::ones_like(allowed);
      ask_about(begin, count);
      if (features.defined()) context.query_features = context.key_features.narrow(1, begin, count);
      if (state.defined()) context.query_state = context.key_state.narrow(1, begin, count);
      const LayerValues block = decoder_.encoding().layer(index, context);
      const PaddedHeads heads{
          q.narrow(1, begin, count).unsqueeze(0), k.unsqueeze(0), v.unsqueeze(0), context.query_positions, places,
          allowed.unsqueeze(0).unsqueeze(0)};
      const AttentionView view = plain_attend(decoder_, index, heads, block, context);
      if (inspection_.attention) {
        inspection_.attention({.layer = index,
                               .sequence = sequence,
                               .first_query = begin,
                               .q = q.narrow(1, begin, count),
                               .k = k,
                               .scores = view.scores[0],
                               .weights = view.weights[0]});
      }
      rows.push_back(view.out[0].transpose(0, 1).reshape({count, -1}));
      if (state.defined()) {
        states.push_back(decoder_.encoding().state_behind_attention(index, context, view.weights)[0]);
      }
    }
    if (state.defined()) state = at::cat(states);
    return at::cat(rows);
  }

  const Decoder& decoder_;
  const Inspection& inspection_;
  Arithmetic arithmetic_;
};

}  // namespace

void inspect(const Decoder& decoder, const Batch& batch, const Inspection& inspection, Arithmetic arithmetic) {
  const at::NoGradGuard no_grad;
  const at::Tensor offsets = batch.offsets.cpu();
  const auto* begin = offsets.const_data_ptr<int64_t>();
  Pass pass(decoder, inspection, arithmetic);
  for (int64_t sequence = 0; sequence < batch.sequence_count(); ++sequence) {
    const int64_t count = begin[sequence + 1] - begin[sequence];
    const auto its = [&](const at::Tensor& all) { return all.narrow(0, begin[sequence], count); };
    std::vector<at::Tensor> streams;
    for (const at::Tensor& stream : batch.streams) streams.push_back(its(stream));
    pass.run(sequence, its(batch.tokens), context_of(decoder, its(batch.positions), streams));
  }
}

at::Tensor distances_apart(int64_t first_query, int64_t queries, int64_t keys, at::Device device) {
  const auto options = at::TensorOptions(at::kDouble).device(device);
  return at::arange(first_query, first_query + queries, options).unsqueeze(1) - at::arange(keys, options).unsqueeze(0);
}

Batch single_sequence(const std::vector<int64_t>& tokens, at::Device device) {
  const auto count = static_cast<int64_t>(tokens.size());
  const auto options = at::TensorOptions(at::kLong).device(device);
  Batch batch;
  batch.tokens = at::tensor(tokens, at::TensorOptions(at::kLong)).to(device);
  batch.offsets = at::tensor({int64_t{0}, count}, at::TensorOptions(at::kLong)).to(device);
  batch.positions = at::arange(count, options);
  batch.loss_rows = batch.positions;
  batch.targets = batch.tokens;
  batch.target_offsets = batch.offsets;
  batch.longest = count;
  return batch;
}

Batch placed_sequence(const Model& model, const std::vector<int64_t>& tokens) {
  Batch batch = single_sequence(tokens, model.parameters().values().device());
  const std::vector<std::vector<int32_t>> text{{tokens.begin(), tokens.end()}};
  int64_t room = 1;
  for (const PositionRule& rule : model.placing().rules) room = std::max(room, rule.room);
  const auto sep = std::ranges::find(tokens, Vocabulary::kSep);
  const std::vector<int64_t> prompt{sep != tokens.end() ? sep - tokens.begin() + 1
                                                        : (std::ssize(tokens) + room - 1) / room};
  const std::vector<TextPositions> placed = place_texts(model.placing(), text, prompt);
  for (size_t rule = 0; rule < placed.size(); ++rule) {
    batch.streams.push_back(stream_tensor(model.placing().rules[rule], placed[rule].front()).to(batch.tokens.device()));
  }
  return batch;
}

}  // namespace lengthwise
