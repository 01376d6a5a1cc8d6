#include <ATen/ATen.h>

#include <cmath>

#include "core/error.h"
#include "positional/entry.h"
#include "positional/formulas.h"
#include "positional/own_attention.h"

namespace lengthwise {
namespace {

constexpr int64_t kTaps = 4;

/// A rotation whose angle grows from token to token by what the token says, head by head:
///
///     angle_t = base^(-2c/dim) sum over s <= t of phase_s,   phase = convolution of 4 tokens (W_2 W_1 x)
///
/// W_1 is the encoding's columns of the query-key-value product. It sees the layer's normalised input where the
/// released code normalises the input once more, head by head to length 1: that is a factor, which the columns have at
/// their start. Pairs are neighbours, as for all rotations here. Without the optional gate of the phase.
class SelectiveRotary : public Encoding {
 public:
  SelectiveRotary(const EncodingArguments& arguments, const EncodingShape& shape, EncodingParameters parameters)
      : heads_(shape.heads) {
    if (shape.head_dim < 2) fail("selective-rope: turns pairs of dims, and a head has 1");
    const int64_t rank = arguments.whole("rank", 1, 4096);
    const double base = arguments.number("base");
    if (!(base > 1)) arguments.refuse("base", "above 1");
    columns_ = {rank, std::sqrt(static_cast<double>(shape.heads)) / static_cast<double>(shape.width)};
    frequencies_ = geometric_frequencies(shape.head_dim / 2 * 2, base, shape.device).to(shape.type);
    const int64_t channels = shape.heads * (shape.head_dim / 2);
    const auto rsqrt = [](int64_t x) { return Initial::normal(1.0 / std::sqrt(static_cast<double>(x))); };
    for (int64_t index = 0; index < shape.layers; ++index) {
      EncodingParameters own = parameters.part(std::to_string(index));
      phases_.push_back({&own.add("phases", {rank, channels}, rsqrt(rank)),
                         &own.add("convolution", {kTaps, channels}, rsqrt(kTaps))});
    }
  }

  std::vector<NormalBlock> features(int64_t) const override { return {columns_}; }

  bool attends(int64_t) const override { return true; }

  AttentionView attend(int64_t layer, const PaddedHeads& heads, const LayerValues& values,
                       const EncodingContext& context, double scale, const at::Tensor& mask) const override {
    const Phases& own = phases_[static_cast<size_t>(layer)];
    const at::Tensor phases =
        short_convolution(at::matmul(context.key_features, own.weight->value), own.convolution->value);
    const at::Tensor angles = phases.cumsum(1).unflatten(-1, {heads_, -1}).transpose(1, 2) * frequencies_;
    const auto turned = [](const at::Tensor& x, const at::Tensor& by) {
      return plain_rotate(x, at::cos(by), at::sin(by));
    };
    PaddedHeads rotated = heads;
    rotated.q = turned(heads.q, of_queries(angles, heads));
    rotated.k = turned(heads.k, angles);
    return plain_attention(rotated, values, scale, mask);
  }

 private:
  struct Phases {
    Parameter *weight, *convolution;  ///< [rank, head * pair], [tap, head * pair]
  };

  int64_t heads_;
  NormalBlock columns_;
  at::Tensor frequencies_;  ///< [pair]
  std::vector<Phases> phases_;
};

}  // namespace

extern const EncodingEntry selective_rope_encoding{
    .info = {.name = "selective-rope",
             .label = "Selective RoPE",
             .family = "content",
             .formula = "turn pairs of q_i, k_j by w_c sum over t <= i, j of phase(x_t)",
             .paper = "Movahedi et al. 2025 (2511.17388)",
             .learned = "rank x (width + heads x pairs) and 4 x heads x pairs, in each layer"},
    .options = {{"rank", "16", "of the phases' projection"}, {"base", "500000", "of the geometric frequencies"}},
    .make = [](const EncodingArguments& arguments, const EncodingShape& shape, EncodingParameters parameters)
        -> std::unique_ptr<Encoding> { return std::make_unique<SelectiveRotary>(arguments, shape, parameters); }};

}  // namespace lengthwise
