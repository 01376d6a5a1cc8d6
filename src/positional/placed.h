#pragma once
/// An encoding whose positions come by a rule instead of the index: all that it states about positions and distances is
/// about these. Keys are causal by their place all the same.
///
/// What goes by distance goes by the difference of positions, pair by pair: a table becomes a bias of pairs, between
/// whole distances by linear interpolation where positions are real (for ALiBi that is the formula itself). Positions
/// that do not ascend have no distances: what goes by distance is refused there.
#include <memory>
#include <string>

#include "positional/entry.h"

namespace lengthwise {

class Placed : public Encoding {
 public:
  /// The first part of the arguments, under the rule.
  Placed(PositionRule rule, const EncodingArguments& arguments, const EncodingShape& shape,
         EncodingParameters parameters);

  at::Tensor addition(const EncodingContext& context) const override;
  void add_rules(std::vector<PositionRule>& rules) const override;
  LayerValues layer(int64_t index, const EncodingContext& context) const override;
  int64_t variant(int64_t layer) const override { return inner_->variant(layer); }
  bool random() const override { return inner_->random(); }
  std::vector<NormalBlock> features(int64_t layer) const override { return inner_->features(layer); }
  bool attends(int64_t layer) const override { return inner_->attends(layer); }
  std::vector<double> turns() const override { return inner_->turns(); }
  int64_t state_size() const override { return inner_->state_size(); }
  at::Tensor first_state(const EncodingContext& context) const override;
  at::Tensor state_behind_attention(int64_t layer, const EncodingContext& context,
                                    const at::Tensor& weights) const override;
  at::Tensor state_behind_network(int64_t layer, const at::Tensor& state, const at::Tensor& branch) const override;
  AttentionView attend(int64_t layer, const PaddedHeads& heads, const LayerValues& values,
                       const EncodingContext& context, double scale, const at::Tensor& mask) const override;
  std::optional<int64_t> position_limit() const override;

 private:
  /// What the inner encoding is asked for.
  EncodingContext placed(const EncodingContext& context) const;
  void by_pairs(const EncodingContext& context, LayerValues& values) const;

  PositionRule rule_;
  std::string inner_text_;
  std::unique_ptr<Encoding> inner_;
};

/// The options of random rules, `max`, and what a sequence has room for.
EncodingOption max_option(const std::string& fallback);
PositionRule random_rule(PositionKind kind, const EncodingArguments& arguments, const EncodingShape& shape);

}  // namespace lengthwise
