#include <ATen/ATen.h>

#include "positional/near_far.h"

namespace lengthwise {
namespace {

/// Beyond the window the distance that RoPE sees stands still, or, leaky, grows more slowly:
///
///     S_ij = scale <q_i, R(r_ij) k_j>,   r_ij = i - j within the window, window + leak (i - j - window) beyond it
///
/// leak = 0 is ReRoPE, 1/k its leaky form with k, and 1 is RoPE. The author's window is a quarter of the trained
/// length; the default here is near that for the sequences that are trained here. The released code also scales scores
/// by max(1, ln(i + 1) / ln(trained)), which is an encoding of its own: `rerope+log-n(least=1)`.
class ReRope : public NearFarRotary {
 public:
  ReRope(const EncodingArguments& arguments, const EncodingShape& shape)
      : NearFarRotary(arguments, shape), leak_(arguments.number("leak", 0, 1)) {}

 private:
  at::Tensor far_query(const at::Tensor& positions) const override {
    return (1 - leak_) * window() + leak_ * positions;
  }
  at::Tensor far_key(const at::Tensor& positions) const override { return leak_ * positions; }

  double leak_;
};

}  // namespace

extern const EncodingEntry rerope_encoding{
    .info = {.name = "rerope",
             .label = "ReRoPE",
             .family = "rotation",
             .formula = "RoPE at the distance i - j within the window, window + leak (i - j - window) beyond it",
             .paper = "Su 2023 (released code)"},
    .options = near_far_options({{"leak", "0", "how much a token more counts beyond the window; 1 is RoPE"}}),
    .make = [](const EncodingArguments& arguments, const EncodingShape& shape,
               EncodingParameters) -> std::unique_ptr<Encoding> { return std::make_unique<ReRope>(arguments, shape); }};

}  // namespace lengthwise
