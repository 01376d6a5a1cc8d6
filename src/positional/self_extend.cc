#include <ATen/ATen.h>

#include <cmath>

#include "positional/near_far.h"

namespace lengthwise {
namespace {

/// Beyond the window positions are counted in groups:
///
///     S_ij = scale <q_i, R(r_ij) k_j>
///     r_ij = i - j within the window, floor(i / group) - floor(j / group) + window - floor(window / group) beyond it
///
/// The released code takes window / group when it reads a prompt and floor(window / group) when it generates, which
/// differ where the group does not divide the window; ours is the latter, as in the paper, in both. A sequence of
/// (trained - window) group + window tokens meets no distance that was not trained. The paper's window of 1,024 is for
/// models trained on 4,096 tokens; the default is in proportion for the sequences that are trained here.
class SelfExtend : public NearFarRotary {
 public:
  SelfExtend(const EncodingArguments& arguments, const EncodingShape& shape)
      : NearFarRotary(arguments, shape), group_(static_cast<double>(arguments.whole("group", 1, 1 << 20))) {}

 private:
  at::Tensor far_query(const at::Tensor& positions) const override {
    return far_key(positions) + (window() - std::floor(window() / group_));
  }
  at::Tensor far_key(const at::Tensor& positions) const override { return at::floor(positions / group_); }

  double group_;
};

}  // namespace

extern const EncodingEntry self_extend_encoding{
    .info = {.name = "self-extend",
             .label = "SelfExtend",
             .family = "rotation",
             .formula = "RoPE at i - j within the window, floor(i/G) - floor(j/G) + window - floor(window/G) beyond it",
             .paper = "Jin et al. 2024 (2401.01325)",
             .translation_invariant = false,
             .aliases = {"selfextend"}},
    .options = near_far_options({{"group", "4", "tokens that share a position beyond the window; 1 is RoPE"}}),
    .make = [](const EncodingArguments& arguments, const EncodingShape& shape, EncodingParameters)
        -> std::unique_ptr<Encoding> { return std::make_unique<SelfExtend>(arguments, shape); }};

}  // namespace lengthwise
