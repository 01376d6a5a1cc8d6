#include "positional/placed.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>

#include "core/error.h"
#include "kernels/pair_biases.h"
#include "positional/named.h"

namespace lengthwise {
namespace {

constexpr int64_t kMostPositions = 65536;

}  // namespace

Placed::Placed(PositionRule rule, const EncodingArguments& arguments, const EncodingShape& shape,
               EncodingParameters parameters)
    : rule_(rule),
      inner_text_(to_text(arguments.parts().front())),
      inner_(make_encoding(arguments.parts().front(), shape, parameters)) {
  const std::optional<int64_t> limit = inner_->position_limit();
  if (limit && !rule.whole()) {
    fail("the encoding {} has a table of whole positions, and these are real numbers", inner_text_);
  }
  if (limit && *limit < rule.max) {
    arguments.refuse("max", fmt::format("at most the {} positions of {}", *limit, inner_text_));
  }
}

void Placed::add_rules(std::vector<PositionRule>& rules) const {
  rules.push_back(rule_);
  inner_->add_rules(rules);
}

EncodingContext Placed::placed(const EncodingContext& context) const {
  const PositionStream& stream = context.stream(rule_);
  EncodingContext own = context;
  own.positions = stream.positions;
  own.query_positions = stream.query_positions;
  own.key_positions = stream.key_positions;
  own.distances = rule_.whole() ? rule_.max : rule_.max + 1;
  return own;
}

at::Tensor Placed::addition(const EncodingContext& context) const {
  return inner_->addition(placed(context));
}

at::Tensor Placed::first_state(const EncodingContext& context) const {
  return inner_->first_state(placed(context));
}

at::Tensor Placed::state_behind_attention(int64_t layer, const EncodingContext& context,
                                          const at::Tensor& weights) const {
  return inner_->state_behind_attention(layer, placed(context), weights);
}

at::Tensor Placed::state_behind_network(int64_t layer, const at::Tensor& state, const at::Tensor& branch) const {
  return inner_->state_behind_network(layer, state, branch);
}

LayerValues Placed::layer(int64_t index, const EncodingContext& context) const {
  const EncodingContext own = placed(context);
  LayerValues values = inner_->layer(index, own);
  const bool own_attention = !rule_.ascending() && inner_->attends(index);
  if (values.table.defined() || values.dense.defined() || values.relative_keys.defined() || values.window > 0 ||
      own_attention) {
    by_pairs(own, values);
  }
  return values;
}

void Placed::by_pairs(const EncodingContext& own, LayerValues& values) const {
  if (!rule_.ascending()) {
    fail("the encoding {} goes by distances, and coupled positions have none; use learned, sinusoidal or a rotation",
         inner_text_);
  }
  if (values.relative_keys.defined() && !rule_.whole()) {
    fail("the encoding {} has keys for whole distances, and these are real numbers", inner_text_);
  }
  const auto add = [&](const at::Tensor& bias) { values.dense = values.dense.defined() ? values.dense + bias : bias; };
  if (values.table.defined()) {
    const PairPlaces places{own.query_positions, own.key_positions};
    add(places.queries.is_cpu() ? pair_biases(values.table, places) : plain_pair_biases(values.table, places));
  }
  // Keys that are still to come are masked whatever stands here.
  const auto distance = [&] {
    return (own.query_positions.unsqueeze(-1) - own.key_positions.unsqueeze(-2)).clamp_min(0);
  };
  if (values.relative_keys.defined()) {
    values.relative_distance = distance().clamp_max(values.relative_keys.size(1) - 1);
  }
  if (values.window > 0) {
    const at::Tensor unseen = (distance() >= values.window).unsqueeze(1);
    add(at::zeros(unseen.sizes(), unseen.options().dtype(at::kFloat))
            .masked_fill(unseen, -std::numeric_limits<double>::infinity()));
  }
  values.table.reset();
  values.window = 0;
}

AttentionView Placed::attend(int64_t layer, const PaddedHeads& heads, const LayerValues& values,
                             const EncodingContext& context, double scale, const at::Tensor& mask) const {
  return inner_->attend(layer, heads, values, placed(context), scale, mask);
}

std::optional<int64_t> Placed::position_limit() const {
  if (rule_.kind == PositionKind::randomized) return rule_.max;
  return std::nullopt;
}

EncodingOption max_option(const std::string& fallback) {
  return {"max", fallback, "positions are drawn below it"};
}

PositionRule random_rule(PositionKind kind, const EncodingArguments& arguments, const EncodingShape& shape) {
  return {.kind = kind,
          .max = arguments.whole("max", 2, kMostPositions),
          .room = shape.trained_room > 0 ? shape.trained_room : 2};
}

}  // namespace lengthwise
