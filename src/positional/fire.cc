#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>

#include "kernels/ramp_network.h"
#include "positional/entry.h"

namespace lengthwise {
namespace {

/// A small network's view of the distance as a share of what the query can look back to, both on a logarithmic scale:
///
///     S_ij += f( g(i - j) / g(max(i, L)) )[head],   g(x) = ln(1 + |c| x)
///     f(x)  = W2 relu(w1 x + b1)
///
/// c, L and the network are learned; all layers share them (FIRE-S). From the position L on the bias depends on the
/// query's position: longer sequences are squeezed into the shares that were trained, those of near keys as well, so
/// that far on in a long window every distance has the bias of a nearer one. With `until` the scale stops to grow at a
/// position U: max(min(i, U), L) instead of max(i, L). A model trained on C tokens and read by fire(until=C-1) +
/// window(size=C) gives every query the biases that the last one had in training.
///
/// Public codes disagree: one takes min(i, L), which undoes the threshold; some have a third linear layer. Ours is the
/// code in the paper's appendix (max, two layers, L as a learned multiple of where it starts), less the bias of the
/// last layer, a constant of each row that the softmax removes. The paper starts L at 512 for sequences of 2,048
/// tokens (`fire(threshold=512)`); sequences here are of some tens of tokens, and the default is in proportion: with
/// 512 the denominator would be one number in all of training, and the bias one of the distance alone.
class Fire : public Encoding {
 public:
  Fire(const EncodingArguments& arguments, const EncodingShape& shape, EncodingParameters parameters)
      : type_(shape.type),
        threshold_(arguments.number("threshold", 1, 1e9)),
        until_(arguments.number("until", 0, 1e9)) {
    const int64_t hidden = arguments.whole("hidden", 1, 4096);
    // The deviations of the uniform numbers that linear layers with 1 and `hidden` inputs start with in PyTorch.
    const double first = 1 / std::sqrt(3.0);
    const double second = 1 / std::sqrt(3.0 * static_cast<double>(hidden));
    const auto add = [&](const char* name, std::vector<int64_t> sizes, Initial initial) {
      return &parameters.add(name, std::move(sizes), std::move(initial), /*decay=*/false);
    };
    c_ = add("c", {1}, Initial::all(arguments.number("c", 1e-6, 1e6)));
    multiple_ = add("threshold", {1}, Initial::all(1));
    in_ = add("in", {hidden}, Initial::normal(first));
    in_bias_ = add("in_bias", {hidden}, Initial::normal(first));
    out_ = add("out", {hidden, shape.heads}, Initial::normal(second));
  }

  LayerValues layer(int64_t, const EncodingContext& context) const override {
    const at::Tensor& queries = context.query_positions;
    const int64_t row = queries.size(0) * context.key_positions.size(1) * in_->value.size(0);
    const int64_t at_once = queries.is_cuda() ? kAtOnceOnGpu : kAtOnce;
    LayerValues values;
    if (at::GradMode::is_enabled() || queries.size(1) * row <= at_once) {
      values.dense = biases(queries, context.key_positions);
      return values;
    }
    // What the network holds of all pairs would be many times as large as their biases.
    values.dense = at::empty({queries.size(0), out_->value.size(1), queries.size(1), context.key_positions.size(1)},
                             out_->value.options().requires_grad(false));
    int64_t first = 0;
    for (const at::Tensor& some : queries.split(std::max<int64_t>(1, at_once / row), 1)) {
      values.dense.narrow(2, first, some.size(1)).copy_(biases(some, context.key_positions));
      first += some.size(1);
    }
    return values;
  }

 private:
  static constexpr double kTiny = 1e-6;
  /// Whose logarithms are made at once.
  static constexpr int64_t kMostDistances = int64_t{1} << 18;
  /// Numbers inside the network, where they need not be kept; a GPU wants large pieces, and has the memory.
  static constexpr int64_t kAtOnce = int64_t{1} << 24;
  static constexpr int64_t kAtOnceOnGpu = int64_t{1} << 27;

  /// [batch, head, query, key]
  at::Tensor biases(const at::Tensor& query_positions, const at::Tensor& key_positions) const {
    const RampNetwork network{in_->value, in_bias_->value, out_->value};
    at::Tensor counted = query_positions.to(type_);
    if (until_ > 0) counted = counted.clamp_max(until_);
    const at::Tensor reach = scaled(at::maximum(counted, (multiple_->value * threshold_).abs())) + kTiny;
    if (query_positions.is_cpu() && query_positions.scalar_type() == at::kLong) {
      const auto furthest = (query_positions.amax() - key_positions.amin()).item<int64_t>();
      if (furthest < kMostDistances) {
        const at::Tensor distances =
            at::arange(std::max<int64_t>(furthest, 0) + 1, in_->value.options().requires_grad(false));
        return ramp_biases({scaled(distances), query_positions, key_positions, reach}, network);
      }
    }
    // Keys that are still to come are masked whatever stands here.
    const at::Tensor distance = (query_positions.unsqueeze(-1) - key_positions.unsqueeze(-2)).clamp_min(0).to(type_);
    const at::Tensor share = scaled(distance) / reach.unsqueeze(-1);  // [batch, query, key]
    return plain_ramp_network(share, network).permute({0, 3, 1, 2});
  }

  at::Tensor scaled(const at::Tensor& x) const { return at::log1p((c_->value * x).abs()); }

  at::ScalarType type_;
  double threshold_;
  double until_;
  Parameter *c_, *multiple_, *in_, *in_bias_, *out_;
};

}  // namespace

extern const EncodingEntry fire_encoding{
    .info = {.name = "fire",
             .label = "FIRE",
             .family = "bias",
             .formula = "S_ij += f(g(i - j) / g(max(i, L)))[head], g(x) = ln(1 + c x)",
             .paper = "Li et al. 2024 (2310.04418)",
             .learned = "c, L and f, 2 x hidden + hidden x heads, shared by all layers",
             .translation_invariant = false},
    .options = {{"hidden", "32", "width of the network"},
                {"c", "0.1", "of the logarithmic scale, where training starts"},
                {"threshold", "32", "position L up to which the scale stays the same, where training starts"},
                {"until", "0", "position from which on the scale stays the same again; 0: it grows on"}},
    .make = [](const EncodingArguments& arguments, const EncodingShape& shape, EncodingParameters parameters)
        -> std::unique_ptr<Encoding> { return std::make_unique<Fire>(arguments, shape, parameters); }};

}  // namespace lengthwise
