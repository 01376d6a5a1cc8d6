#include <ATen/ATen.h>

#include <cmath>

#include "positional/rotation.h"
#include "positional/trained_length.h"

namespace lengthwise {
namespace {

/// RoPE over the whole head without the pairs that complete no turn within the trained length:
///
///     w_c = base^(-2c/d) where 2 pi / w_c <= trained, 0 otherwise
///
/// These pairs see angles past the trained length that they never saw in training; left alone they carry content. No
/// code is public. This is the high-frequency HoPE; the hyperbolic one of 2025 has the same name and is a decay.
at::Tensor frequencies(const EncodingArguments& arguments, const EncodingShape& shape) {
  const at::Tensor all = full_frequencies(arguments, shape);
  const auto longest = static_cast<double>(trained_length(arguments, shape));
  return all.narrow(0, 0, (all * longest >= 2 * M_PI).sum().item<int64_t>());
}

}  // namespace

extern const EncodingEntry hope_encoding{
    .info = {.name = "hope",
             .label = "HoPE",
             .family = "rotation",
             .formula = "RoPE of the pairs that turn once within the trained length; the others stay",
             .paper = "Chen et al. 2024 (2410.21216)",
             .aliases = {"high-frequency-hope"}},
    .options = {trained_option(), base_option()},
    .make = [](const EncodingArguments& arguments, const EncodingShape& shape,
               EncodingParameters) -> std::unique_ptr<Encoding> {
      return std::make_unique<RotaryEncoding>(frequencies(arguments, shape), shape);
    }};

}  // namespace lengthwise
