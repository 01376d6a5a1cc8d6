#include <ATen/ATen.h>

#include <cmath>

#include "core/error.h"
#include "positional/named.h"
#include "positional/trained_length.h"

namespace lengthwise {
namespace {

/// Training begins with the encoding in brackets and, from a share of its steps on, goes on without it; outside
/// training there is none, whatever the step: weights of before count as what they are worth without. There, scores may
/// grow with the number of keys a query sees:
///
///     S_ij times max(1, 1 + scale ln((i + 1) / trained))
///
/// The paper drops RoPE after 14 of 16 thousand steps, which is the default, and takes the factor of the length of the
/// whole sequence, with scale = 0.412 for a model trained so and 0.103 for one that was there already; ours is the
/// query's own i + 1, as for `log-n`. Without a scale there is no factor:
///
///     lengthwise eval RUN --encoding 'drope(rope,scale=0.412)'
///
/// The learning rate goes on as it would, so that it is low behind the drop; the paper's norm of queries and keys,
/// which lets it be high, is not here.
class Drope : public Encoding {
 public:
  Drope(const EncodingArguments& arguments, const EncodingShape& shape, EncodingParameters parameters)
      : at_(arguments.number("at", 0, 1)),
        scale_(arguments.number("scale", 0, 100)),
        trained_(static_cast<double>(trained_length(arguments, shape))),
        heads_(shape.heads),
        type_(shape.type) {
    const EncodingSpec& spec = arguments.parts().front();
    if (adds_to_embeddings(spec, shape)) {
      fail("drope(...): {} adds to the embeddings; what can be dropped acts in attention", to_text(spec));
    }
    part_ = make_encoding(spec, shape, parameters);
  }

  LayerValues layer(int64_t index, const EncodingContext& context) const override {
    if (!dropped(context)) return part_->layer(index, context);
    LayerValues values;
    if (scale_ > 0 && !context.noise.training()) {
      const at::Tensor logs = at::log((context.positions.to(at::kDouble) + 1) / trained_).clamp_min(0);
      values.query_scale = (1 + scale_ * logs).to(type_).unsqueeze(1).expand({-1, heads_});
    }
    return values;
  }

  AttentionView attend(int64_t layer, const PaddedHeads& heads, const LayerValues& values,
                       const EncodingContext& context, double scale, const at::Tensor& mask) const override {
    return dropped(context) ? plain_attention(heads, values, scale, mask)
                            : part_->attend(layer, heads, values, context, scale, mask);
  }

  std::vector<double> turns() const override {
    std::vector<double> turns = part_->turns();
    turns.push_back(at_);
    return turns;
  }
  void add_rules(std::vector<PositionRule>& rules) const override { part_->add_rules(rules); }
  int64_t variant(int64_t layer) const override { return part_->variant(layer); }
  bool random() const override { return part_->random(); }
  std::vector<NormalBlock> features(int64_t layer) const override { return part_->features(layer); }
  bool attends(int64_t layer) const override { return part_->attends(layer); }
  std::optional<int64_t> position_limit() const override { return part_->position_limit(); }
  int64_t state_size() const override { return part_->state_size(); }
  at::Tensor first_state(const EncodingContext& context) const override { return part_->first_state(context); }
  at::Tensor state_behind_attention(int64_t layer, const EncodingContext& context,
                                    const at::Tensor& weights) const override {
    return part_->state_behind_attention(layer, context, weights);
  }
  at::Tensor state_behind_network(int64_t layer, const at::Tensor& state, const at::Tensor& branch) const override {
    return part_->state_behind_network(layer, state, branch);
  }

 private:
  bool dropped(const EncodingContext& context) const { return context.noise.done() >= at_; }

  double at_, scale_, trained_;
  int64_t heads_;
  at::ScalarType type_;
  std::unique_ptr<Encoding> part_;
};

}  // namespace

extern const EncodingEntry drope_encoding{
    .info = {.name = "drope",
             .label = "DroPE",
             .family = "modifier",
             .formula = "the encoding in brackets until a share `at` of training, then none, and none in evaluation",
             .paper = "Gelberg et al. 2025 (2512.12167)"},
    .options = {{"at", "0.875", "share of the training's steps behind which there is no encoding"},
                {"scale", "0", "in evaluation, scores grow by it with the logarithm of the length; 0: not"},
                trained_option()},
    .make = [](const EncodingArguments& arguments, const EncodingShape& shape, EncodingParameters parameters)
        -> std::unique_ptr<Encoding> { return std::make_unique<Drope>(arguments, shape, parameters); },
    .least_parts = 1,
    .most_parts = 1};

}  // namespace lengthwise
