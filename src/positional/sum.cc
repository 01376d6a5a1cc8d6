#include <ATen/ATen.h>

#include <algorithm>

#include "core/error.h"
#include "positional/named.h"
#include "positional/part_states.h"

namespace lengthwise {
namespace {

void add(at::Tensor& sum, const at::Tensor& more) {
  if (more.defined()) sum = sum.defined() ? sum + more : more;
}

/// All that several encodings state at once: biases are added, scales multiplied, the narrowest window holds.
class Sum : public Encoding {
 public:
  Sum(const EncodingSpec& spec, const EncodingShape& shape, EncodingParameters parameters) : text_(to_text(spec)) {
    for (const EncodingSpec& part : spec.parts) {
      parts_.push_back(make_encoding(part, shape, parameters.part(part.name)));
    }
  }

  at::Tensor embedding_addition(const at::Tensor& positions) const override {
    at::Tensor sum;
    for (const auto& part : parts_) add(sum, part->embedding_addition(positions));
    return sum;
  }

  at::Tensor addition(const EncodingContext& context) const override {
    at::Tensor sum;
    for (const auto& part : parts_) add(sum, part->addition(context));
    return sum;
  }

  void add_rules(std::vector<PositionRule>& rules) const override {
    for (const auto& part : parts_) part->add_rules(rules);
  }

  LayerValues layer(int64_t index, const EncodingContext& context) const override {
    LayerValues sum;
    for_each_part(index, context, [&](const Encoding& part, const EncodingContext& its) {
      const LayerValues more = part.layer(index, its);
      take_one(sum.query.cos, more.query.cos, "turn queries and keys");
      take_one(sum.query.sin, more.query.sin, "turn queries and keys");
      take_one(sum.key.cos, more.key.cos, "turn queries and keys");
      take_one(sum.key.sin, more.key.sin, "turn queries and keys");
      take_one(sum.relative_keys, more.relative_keys, "have keys by distance");
      take_one(sum.relative_distance, more.relative_distance, "have keys by distance");
      take_one(sum.content_bias, more.content_bias, "have keys by distance");
      take_one(sum.position_bias, more.position_bias, "have keys by distance");
      add(sum.table, more.table);
      add(sum.dense, more.dense);
      add(sum.key_bias, more.key_bias);
      if (more.query_scale.defined()) {
        sum.query_scale = sum.query_scale.defined() ? sum.query_scale * more.query_scale : more.query_scale;
      }
      if (more.window > 0) sum.window = sum.window > 0 ? std::min(sum.window, more.window) : more.window;
    });
    return sum;
  }

  int64_t variant(int64_t layer) const override {
    int64_t number = 0;
    for (const auto& part : parts_) number = number * 4096 + part->variant(layer);
    return number;
  }

  bool random() const override {
    return std::ranges::any_of(parts_, [](const auto& part) { return part->random(); });
  }

  std::vector<NormalBlock> features(int64_t layer) const override {
    std::vector<NormalBlock> all;
    for (const auto& part : parts_) {
      for (const NormalBlock& block : part->features(layer)) all.push_back(block);
    }
    return all;
  }

  std::optional<KeyDecay> decay(int64_t layer) const override {
    std::optional<KeyDecay> only;
    for (const auto& part : parts_) {
      if (column_count(part->features(layer)) == 0) continue;
      if (only) return std::nullopt;  // attention has one
      only = part->decay(layer);
      if (!only) return std::nullopt;
    }
    return only;
  }

  bool attends(int64_t layer) const override {
    const auto count = std::ranges::count_if(parts_, [&](const auto& part) { return part->attends(layer); });
    if (count > 1) fail("the encoding {}: two of its parts attend in their own way", text_);
    return count == 1;
  }

  AttentionView attend(int64_t layer, const PaddedHeads& heads, const LayerValues& values,
                       const EncodingContext& context, double scale, const at::Tensor& mask) const override {
    AttentionView view;
    for_each_part(layer, context, [&](const Encoding& part, const EncodingContext& its) {
      if (part.attends(layer)) view = part.attend(layer, heads, values, its, scale, mask);
    });
    return view;
  }

  std::vector<double> turns() const override { return turns_of(parts_); }

  int64_t state_size() const override { return side_by_side(parts_); }
  at::Tensor first_state(const EncodingContext& context) const override { return first_states(parts_, context); }

  at::Tensor state_behind_attention(int64_t layer, const EncodingContext& context,
                                    const at::Tensor& weights) const override {
    return each_state(parts_, context.query_state, [&](size_t part, const at::Tensor&) {
      return parts_[part]->state_behind_attention(layer, with_state_of(parts_, part, context), weights);
    });
  }

  at::Tensor state_behind_network(int64_t layer, const at::Tensor& state, const at::Tensor& branch) const override {
    return each_state(parts_, state, [&](size_t part, const at::Tensor& its) {
      return parts_[part]->state_behind_network(layer, its, branch);
    });
  }

  std::optional<int64_t> position_limit() const override {
    std::optional<int64_t> limit;
    for (const auto& part : parts_) {
      const std::optional<int64_t> its = part->position_limit();
      if (its) limit = std::min(limit.value_or(*its), *its);
    }
    return limit;
  }

 private:
  void take_one(at::Tensor& sum, const at::Tensor& more, const char* what) const {
    if (sum.defined() && more.defined()) fail("the encoding {}: two of its parts {}, one can", text_, what);
    if (more.defined()) sum = more;
  }

  /// Each part sees its own columns of features, and its own state.
  template <class Function>
  void for_each_part(int64_t layer, const EncodingContext& context, const Function& function) const {
    int64_t column = 0;
    for (size_t index = 0; index < parts_.size(); ++index) {
      const auto& part = parts_[index];
      const int64_t columns = column_count(part->features(layer));
      EncodingContext its = with_state_of(parts_, index, context);
      if (context.key_features.defined()) {
        its.query_features = context.query_features.narrow(-1, column, columns);
        its.key_features = context.key_features.narrow(-1, column, columns);
      }
      column += columns;
      function(*part, its);
    }
  }

  std::string text_;
  std::vector<std::unique_ptr<Encoding>> parts_;
};

}  // namespace

std::unique_ptr<Encoding> make_sum(const EncodingSpec& spec, const EncodingShape& shape,
                                   EncodingParameters parameters) {
  return std::make_unique<Sum>(spec, shape, parameters);
}

}  // namespace lengthwise
