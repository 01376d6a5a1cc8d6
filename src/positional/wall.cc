#include <ATen/ATen.h>

#include <bit>
#include <cmath>

#include "positional/entry.h"
#include "positional/own_attention.h"

namespace lengthwise {
namespace {

/// A gate for each dim of a head, in which queries and keys are compared the less the more was forgotten between them:
///
///     S_ij = scale sum over n of q_in k_jn exp(P_in - P_jn),   P_t = sum over s <= t of ln sigmoid(W x_s + b)
///
/// exp(-P_j) alone overflows, so the exponent is split at a token a between j and i into two that are not positive:
/// P_i - P_a and P_a - P_j. Places j < i first differ, from the highest bit on, in one that i has and j has not; a is
/// the last place below i that shares the bits above and has not this one. For each bit that is one a for all pairs of
/// a block, its middle, and one product of matrices.
///
/// The gates alone: the released code's scalar gate is `fox`, which can be added.
class Wall : public Encoding {
 public:
  Wall(const EncodingArguments& arguments, const EncodingShape& shape, EncodingParameters parameters)
      : heads_(shape.heads), width_(shape.width), columns_(shape.heads * shape.head_dim) {
    const Initial start = Initial::all(arguments.number("bias", -1e6, 1e6));
    for (int64_t index = 0; index < shape.layers; ++index) {
      bias_.push_back(&parameters.add(fmt::format("{}.bias", index), {columns_}, start, /*decay=*/false));
    }
  }

  std::vector<NormalBlock> features(int64_t) const override {
    return {{columns_, 1.0 / std::sqrt(static_cast<double>(width_))}};
  }

  bool attends(int64_t) const override { return true; }

  AttentionView attend(int64_t layer, const PaddedHeads& heads, const LayerValues& values,
                       const EncodingContext& context, double scale, const at::Tensor& mask) const override {
    const at::Tensor gates = at::log_sigmoid(context.key_features + bias_[static_cast<size_t>(layer)]->value);
    const at::Tensor sums = gates.cumsum(1).unflatten(-1, {heads_, -1}).transpose(1, 2);
    return attend_by(compare(heads, sums) * scale, heads, values, scale, mask);
  }

 private:
  /// sum over n of q_in k_jn exp(P_in - P_jn) for j <= i, `sums` [batch, head, key, dim] being P.
  static at::Tensor compare(const PaddedHeads& heads, const at::Tensor& sums) {
    const int64_t keys = heads.k.size(2);
    const at::Tensor own = own_keys(heads);
    const at::Tensor i = own.to(at::kLong).argmax(-1, true);  // [batch, 1, query, 1]
    const at::Tensor differing = i.bitwise_xor(at::arange(keys, i.options()));
    at::Tensor scores = at::where(own, at::matmul(heads.q, heads.k.transpose(-1, -2)), 0);
    const auto whole = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(keys)));
    const at::Tensor filled = whole == keys ? sums : at::constant_pad_nd(sums, {0, 0, 0, whole - keys});
    for (int64_t bit = 1; bit < keys; bit *= 2) {
      // P_t - P_a for each token t, a being the last of the first half of its block. What stands on the wrong side of a
      // belongs to no pair of this bit.
      const at::Tensor blocks = filled.unflatten(2, {-1, 2 * bit});
      const at::Tensor behind = (blocks - blocks.narrow(3, bit - 1, 1)).flatten(2, 3).narrow(2, 0, keys);
      const at::Tensor q = heads.q * of_queries(at::exp(behind.clamp_max(0)), heads);
      const at::Tensor k = heads.k * at::exp(-behind.clamp_min(0));
      scores = at::where(differing.div(bit, "floor") == 1, at::matmul(q, k.transpose(-1, -2)), scores);
    }
    return scores;
  }

  int64_t heads_, width_, columns_;
  std::vector<Parameter*> bias_;  ///< [head * dim], by layer
};

}  // namespace

extern const EncodingEntry wall_encoding{
    .info = {.name = "wall",
             .label = "Wall",
             .family = "content",
             .formula = "S_ij = sum over n of q_in k_jn prod over j < t <= i of sigmoid(<w_n, x_t> + b_n)",
             .paper = "Tilde Research 2026 (released code of flash-linear-attention)",
             .learned = "width x heads x dims and heads x dims, in each layer"},
    .options = {{"bias", "8", "of the gates at the start: half is forgotten in 2,067 tokens; larger forgets less"}},
    .make = [](const EncodingArguments& arguments, const EncodingShape& shape, EncodingParameters parameters)
        -> std::unique_ptr<Encoding> { return std::make_unique<Wall>(arguments, shape, parameters); }};

}  // namespace lengthwise
