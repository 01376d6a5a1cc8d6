#include <ATen/ATen.h>

#include <cmath>

#include "core/error.h"
#include "positional/own_attention.h"
#include "positional/rotation.h"

namespace lengthwise {
namespace {

/// RoPE whose turns every layer changes by what it reads. A token carries e_t, a number in the plane for each head and
/// pair of dims, from layer to layer; it begins as RoPE's (cos t w_c, sin t w_c), and multiplies pairs of queries and
/// keys as RoPE's does, factor and all:
///
///     S_ij = scale <e_i q_i, e_j k_j>
///     behind attention:    e_i += g[head] sum over j of A_ij e_j
///     behind the network:  e_i += W_down (SiLU(W_x y_i) * W_up e_i), over the heads of each pair, y_i what it adds
///
/// All this treats the plane as a whole, so that moving all positions turns all e alike and changes nothing. g and W_up
/// begin at 0: before training it is RoPE. One g and one set of W for each layer but the last, behind which no e is
/// read.
///
/// The released code multiplies by a matrix over the heads behind attention whose rows it sums: a number for each head,
/// which is what is learned here. It also moves positions at random in training, which can do nothing here; and its
/// key-value cache keeps no states, so that its generation differs from its training. Ours does not.
class Tape : public Encoding {
 public:
  Tape(const EncodingArguments& arguments, const EncodingShape& shape, EncodingParameters parameters)
      : heads_(shape.heads), type_(shape.type), frequencies_(full_frequencies(arguments, shape)) {
    if (shape.head_dim < 2) fail("tape: turns pairs of dims, and a head has 1");
    const int64_t given = arguments.whole("hidden", 0, 65536);
    const int64_t hidden = given > 0 ? given : std::max<int64_t>(1, shape.width / 2);
    const auto rsqrt = [](int64_t x) { return Initial::normal(1.0 / std::sqrt(static_cast<double>(x))); };
    for (int64_t index = 0; index + 1 < shape.layers; ++index) {
      EncodingParameters own = parameters.part(std::to_string(index));
      layers_.push_back({&own.add("gain", {heads_}, Initial::all(0), /*decay=*/false),
                         &own.add("up", {heads_, hidden}, Initial::all(0)),
                         &own.add("gate", {shape.width, hidden}, rsqrt(shape.width)),
                         &own.add("down", {hidden, heads_}, rsqrt(hidden))});
    }
  }

  int64_t state_size() const override { return 2 * heads_ * frequencies_.size(0); }

  at::Tensor first_state(const EncodingContext& context) const override {
    const Rotation turn = turned(context.positions, frequencies_, type_);
    return at::cat({turn.cos, turn.sin}, -1).unsqueeze(1).expand({-1, heads_, -1}).flatten(1);
  }

  bool attends(int64_t) const override { return true; }

  AttentionView attend(int64_t, const PaddedHeads& heads, const LayerValues& values, const EncodingContext& context,
                       double scale, const at::Tensor& mask) const override {
    refuse_rotation(values);
    PaddedHeads placed = heads;
    placed.q = multiplied(heads.q, context.query_state);
    placed.k = multiplied(heads.k, context.key_state);
    return plain_attention(placed, values, scale, mask);
  }

  at::Tensor state_behind_attention(int64_t layer, const EncodingContext& context,
                                    const at::Tensor& weights) const override {
    if (layer == std::ssize(layers_)) return context.query_state;
    const at::Tensor read =
        at::matmul(weights, by_head(context.key_state)).transpose(1, 2);  // [batch, query, head, ..]
    const at::Tensor& gain = layers_[static_cast<size_t>(layer)].gain->value;
    return context.query_state + (read * gain.unsqueeze(-1)).flatten(2);
  }

  at::Tensor state_behind_network(int64_t layer, const at::Tensor& state, const at::Tensor& branch) const override {
    if (layer == std::ssize(layers_)) return state;
    const Layer& own = layers_[static_cast<size_t>(layer)];
    const at::Tensor heads = state.unflatten(-1, {heads_, -1});             // [row, head, number]
    const at::Tensor gate = at::silu(at::matmul(branch, own.gate->value));  // [row, hidden]
    const at::Tensor hidden = at::matmul(own.up->value.t(), heads) * gate.unsqueeze(-1);
    return state + at::matmul(own.down->value.t(), hidden).flatten(1);
  }

 private:
  struct Layer {
    Parameter *gain, *up, *gate, *down;  ///< [head], [head, hidden], [width, hidden], [hidden, head]
  };

  /// [batch, token, number] as [batch, head, token, number of a head]: cosines of its pairs, then sines.
  at::Tensor by_head(const at::Tensor& state) const { return state.unflatten(-1, {heads_, -1}).transpose(1, 2); }

  at::Tensor multiplied(const at::Tensor& x, const at::Tensor& state) const {
    const std::vector<at::Tensor> halves = by_head(state).chunk(2, -1);
    return plain_rotate(x, halves[0], halves[1]);
  }

  int64_t heads_;
  at::ScalarType type_;
  at::Tensor frequencies_;  ///< [pair] double
  std::vector<Layer> layers_;
};

}  // namespace

extern const EncodingEntry tape_encoding{
    .info = {.name = "tape",
             .label = "TAPE",
             .family = "content",
             .formula =
                 "S_ij = <e_i q_i, e_j k_j>, e starts as RoPE; e += g A e behind attention, += MLP(y, e) behind it",
             .paper = "Zhu et al. 2025 (2501.00712)",
             .learned = "heads, and (2 heads + width) x hidden, in each layer but the last"},
    .options = {{"hidden", "0", "units of the network that changes e; 0: half of the width"}, base_option()},
    .make = [](const EncodingArguments& arguments, const EncodingShape& shape, EncodingParameters parameters)
        -> std::unique_ptr<Encoding> { return std::make_unique<Tape>(arguments, shape, parameters); }};

}  // namespace lengthwise
