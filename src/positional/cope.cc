#include <ATen/ATen.h>

#include "positional/entry.h"
#include "positional/own_attention.h"

namespace lengthwise {
namespace {

/// Contextual positions: each key between counts as much as the query says, so that positions are fractions, and the
/// vectors of the two nearest whole ones are mixed:
///
///     g_ij = sigmoid(scale <q_i, k_j>),   p_ij = min(sum over j <= t <= i of g_it, positions - 1)
///     S_ij += scale <q_i, (1 - w) e[floor p_ij] + w e[ceil p_ij]>,   w = p_ij - floor p_ij
///
/// Gates are of the scaled content alone, and the vectors are compared with the same scale. One table for each layer,
/// shared by its heads, starting at 0. Public codes have 64 positions or as many as tokens: 64 here, an option.
class Contextual : public Encoding {
 public:
  Contextual(const EncodingArguments& arguments, const EncodingShape& shape, EncodingParameters parameters)
      : last_(arguments.whole("positions", 2, 1 << 20) - 1) {
    for (int64_t index = 0; index < shape.layers; ++index) {
      vectors_.push_back(
          &parameters.add(fmt::format("{}.positions", index), {last_ + 1, shape.head_dim}, Initial::all(0)));
    }
  }

  bool attends(int64_t) const override { return true; }

  AttentionView attend(int64_t layer, const PaddedHeads& heads, const LayerValues& values, const EncodingContext&,
                       double scale, const at::Tensor& mask) const override {
    const at::Tensor content = content_scores(heads, scale);
    const at::Tensor unseen = seen_keys(heads, values.window).logical_not();
    const at::Tensor place =
        sums_from(at::sigmoid(content).masked_fill(unseen, 0)).clamp_max(static_cast<double>(last_));
    const at::Tensor below = place.detach().floor();
    const at::Tensor by_place = at::matmul(heads.q, vectors_[static_cast<size_t>(layer)]->value.t()) * scale;
    const at::Tensor lower = gathered(by_place, 3, below.to(at::kLong));
    const at::Tensor upper = gathered(by_place, 3, place.detach().ceil().to(at::kLong));
    return attend_by(at::addcmul(content + lower, place - below, upper - lower), heads, values, scale, mask);
  }

 private:
  int64_t last_;
  std::vector<Parameter*> vectors_;  ///< [position, dim], by layer
};

}  // namespace

extern const EncodingEntry cope_encoding{
    .info = {.name = "cope",
             .label = "CoPE",
             .family = "content",
             .formula = "S_ij += <q_i, e[p_ij]>, p_ij = sum over j <= t <= i of sigmoid(<q_i, k_t>)",
             .paper = "Golovneva et al. 2024 (2405.18719)",
             .learned = "positions x dims, in each layer"},
    .options = {{"positions", "64", "vectors; farther keys share the last"}},
    .make = [](const EncodingArguments& arguments, const EncodingShape& shape, EncodingParameters parameters)
        -> std::unique_ptr<Encoding> { return std::make_unique<Contextual>(arguments, shape, parameters); }};

}  // namespace lengthwise
