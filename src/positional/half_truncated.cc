#include <ATen/ATen.h>

#include <cmath>

#include "positional/rotation.h"

namespace lengthwise {
namespace {

/// RoPE of the speed runs of modded-nanogpt: half of the pairs turn, with frequencies from 1 to 1/base, both ends
/// included, and the other half do not:
///
///     w_c = base^(-c/(n - 1)), c = 0..n-1, n = fraction d/2
///
/// So the lowest frequency is the same whatever the width, unlike in p-RoPE or a part of the head. Which dims make a
/// pair differs there, (c, c + d/2), and does not matter.
at::Tensor frequencies(const EncodingArguments& arguments, const EncodingShape& shape) {
  const double fraction = arguments.number("fraction");
  const auto pairs = static_cast<int64_t>(fraction * static_cast<double>(shape.head_dim / 2));
  if (!(fraction > 0) || fraction > 1 || pairs < 1) {
    arguments.refuse("fraction", fmt::format("above 0 and at most 1 and rotate at least 2 of the {} dims of a head",
                                             shape.head_dim));
  }
  const at::Tensor exponents = at::linspace(0, 1, pairs, at::TensorOptions(shape.device).dtype(at::kDouble));
  return at::exp(exponents * -std::log(rotary_base(arguments)));
}

}  // namespace

extern const EncodingEntry half_truncated_encoding{
    .info = {.name = "half-truncated",
             .label = "Half-truncated RoPE",
             .family = "rotation",
             .formula = "turn half of the pairs by w_c = base^(-c/(n - 1)), c = 0..n-1; the others stay",
             .paper = "Jordan et al. 2024, code (github.com/KellerJordan/modded-nanogpt)",
             .aliases = {"half-truncated-rope", "half-truncate-rope", "truncated", "truncated-rope"}},
    .options = {{"fraction", "0.5", "share of the pairs that turn"}, {"base", "1024", "1 over the lowest frequency"}},
    .make = [](const EncodingArguments& arguments, const EncodingShape& shape,
               EncodingParameters) -> std::unique_ptr<Encoding> {
      return std::make_unique<RotaryEncoding>(frequencies(arguments, shape), shape);
    }};

}  // namespace lengthwise
