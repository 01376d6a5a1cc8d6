#include <ATen/ATen.h>

#include <cmath>

#include "positional/rotation.h"

namespace lengthwise {
namespace {

/// RoPE whose wavelengths are whole numbers of tokens, so that a pair which has turned once meets the same angles again
/// and none between them:
///
///     w_c = 2 pi / round(2 pi base^(2c/d))
///
/// The released code rounds after YaRN has changed the frequencies as well; here RoPE's own are rounded.
at::Tensor frequencies(const EncodingArguments& arguments, const EncodingShape& shape) {
  return 2 * M_PI / at::round(2 * M_PI / full_frequencies(arguments, shape));
}

}  // namespace

extern const EncodingEntry resonance_encoding{
    .info = {.name = "resonance",
             .label = "Resonance RoPE",
             .family = "rotation",
             .formula = "RoPE with wavelengths 2 pi / w_c rounded to whole tokens",
             .paper = "Wang et al. 2024 (2403.00071)",
             .aliases = {"resonance-rope"}},
    .options = {base_option()},
    .make = [](const EncodingArguments& arguments, const EncodingShape& shape,
               EncodingParameters) -> std::unique_ptr<Encoding> {
      return std::make_unique<RotaryEncoding>(frequencies(arguments, shape), shape);
    }};

}  // namespace lengthwise
