#include "positional/encoding.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "core/error.h"

namespace lengthwise {

at::Tensor Encoding::embedding_addition(const at::Tensor&) const {
  return {};
}

void Encoding::add_rules(std::vector<PositionRule>&) const {}

const PositionStream& EncodingContext::stream(const PositionRule& rule) const {
  const auto found = std::ranges::find(streams, rule, &PositionStream::rule);
  LENGTHWISE_CHECK(found != streams.end(), "an encoding was asked without the positions of its rule");
  return *found;
}

std::vector<PositionRule> rules_of(const Encoding& encoding) {
  std::vector<PositionRule> all, rules;
  encoding.add_rules(all);
  for (const PositionRule& rule : all) {
    if (std::ranges::find(rules, rule) == rules.end()) rules.push_back(rule);
  }
  return rules;
}

at::Tensor unplaced(const PositionRule& rule, const at::Tensor& index) {
  if (!rule.ascending()) return at::zeros_like(index);
  return rule.whole() ? index : index.to(at::kDouble);
}

LayerValues Encoding::layer(int64_t, const EncodingContext&) const {
  return {};
}

int64_t Encoding::variant(int64_t) const {
  return 0;
}

std::vector<NormalBlock> Encoding::features(int64_t) const {
  return {};
}

std::optional<KeyDecay> Encoding::decay(int64_t) const {
  return std::nullopt;
}

bool Encoding::attends(int64_t) const {
  return false;
}

AttentionView Encoding::attend(int64_t, const PaddedHeads&, const LayerValues&, const EncodingContext&, double,
                               const at::Tensor&) const {
  LENGTHWISE_CHECK(false, "an encoding without attention of its own was asked to attend");
}

at::Tensor Encoding::first_state(const EncodingContext&) const {
  return {};
}

at::Tensor Encoding::state_behind_attention(int64_t, const EncodingContext& context, const at::Tensor&) const {
  return context.query_state;
}

at::Tensor Encoding::state_behind_network(int64_t, const at::Tensor& state, const at::Tensor&) const {
  return state;
}

int64_t phase_of(const Encoding& encoding, double done) {
  return std::ranges::count_if(encoding.turns(), [&](double turn) { return done >= turn; });
}

std::vector<double> turns_of(const std::vector<std::unique_ptr<Encoding>>& parts) {
  std::vector<double> turns;
  for (const auto& part : parts) {
    for (const double turn : part->turns()) turns.push_back(turn);
  }
  return turns;
}

int64_t column_count(const std::vector<NormalBlock>& blocks) {
  int64_t columns = 0;
  for (const NormalBlock& block : blocks) columns += block.columns;
  return columns;
}

uint32_t kinds_of(const LayerValues& values) {
  uint32_t kinds = 0;
  const auto add = [&](bool stated, ValueKind kind) {
    if (stated) kinds |= kind;
  };
  add(values.query.cos.defined() || values.key.cos.defined(), kRotation);
  add(values.key.cos.defined(), kKeyRotation);
  add(values.query.cos.defined() && values.query.cos.requires_grad(), kLearnedRotation);
  add(values.query_scale.defined(), kQueryScale);
  add(values.table.defined(), kTable);
  add(values.table.defined() && values.table.requires_grad(), kLearnedTable);
  add(values.dense.defined(), kDense);
  add(values.relative_keys.defined(), kRelativeKeys);
  add(values.window > 0, kWindow);
  add(values.key_bias.defined(), kKeyBias);
  return kinds;
}

uint32_t kinds_of(const Encoding& encoding, const EncodingShape& shape) {
  const at::AutoGradMode with_history(true);  // what learns is told by it
  const auto options = at::TensorOptions(shape.device).dtype(at::kLong);
  EncodingContext context;
  context.positions = at::arange(2, options);
  context.distances = 2;
  context.query_positions = context.key_positions = context.positions.unsqueeze(0);
  uint32_t kinds = 0;
  for (const PositionRule& rule : rules_of(encoding)) {
    const at::Tensor positions = unplaced(rule, context.positions);
    context.streams.push_back({rule, positions, positions.unsqueeze(0), positions.unsqueeze(0)});
    kinds |= kRules;
  }
  if (encoding.addition(context).defined()) kinds |= kAddition;
  if (encoding.state_size() > 0) {
    context.query_state = context.key_state = encoding.first_state(context).unsqueeze(0);
    kinds |= kState;
  }
  if (encoding.has_course()) kinds |= kCourse;
  for (int64_t index = 0; index < shape.layers; ++index) {
    context.query_features = context.key_features = at::Tensor();
    if (const int64_t columns = column_count(encoding.features(index)); encoding.decay(index)) {
      kinds |= kDecay;
    } else if (columns > 0) {
      // They learn: what follows from them is told by that.
      context.query_features = context.key_features =
          at::zeros({1, 2, columns}, options.dtype(shape.type)).requires_grad_(true);
      kinds |= kFeatures;
    }
    if (encoding.attends(index)) kinds |= kOwnAttention;
    kinds |= kinds_of(encoding.layer(index, context));
    if (!encoding.has_course()) continue;
    EncodingContext beginning = context;
    beginning.noise = StepNoise(0, uint64_t{0}, 0);
    kinds |= kinds_of(encoding.layer(index, beginning));
  }
  return kinds;
}

}  // namespace lengthwise
