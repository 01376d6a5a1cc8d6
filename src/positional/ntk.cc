#include <ATen/ATen.h>

#include <cmath>

#include "positional/formulas.h"
#include "positional/rotation.h"

namespace lengthwise {
namespace {

/// A larger base: the highest frequency, 1, stays and the lowest is divided by the factor.
///
///     w_c = base'^(-2c/d), base' = base factor^(d/(d-2)), d the rotated dims
///
/// The factor is fixed. What is called dynamic takes it from the length of the sequence at hand, which would change
/// keys that are cached already.
at::Tensor frequencies(const EncodingArguments& arguments, const EncodingShape& shape) {
  const TrainedRotation trained = trained_rotation(arguments, shape);
  const double factor = factor_of(arguments);
  if (trained.width == 2) return trained.frequencies;  // the highest alone
  const auto width = static_cast<double>(trained.width);
  return geometric_frequencies(trained.width, trained.base * std::pow(factor, width / (width - 2)), shape.device);
}

}  // namespace

extern const EncodingEntry ntk_encoding{
    .info = {.name = "ntk",
             .label = "NTK-aware RoPE",
             .family = "rotation",
             .formula = "RoPE with the base times factor^(d / (d - 2)), d the rotated dims",
             .paper = "bloc97 2023, in Peng et al. 2023 (2309.00071)",
             .aliases = {"ntk-aware"}},
    .options = trained_rotation_options({factor_option()}),
    .make = [](const EncodingArguments& arguments, const EncodingShape& shape,
               EncodingParameters) -> std::unique_ptr<Encoding> {
      return std::make_unique<RotaryEncoding>(frequencies(arguments, shape), shape);
    }};

}  // namespace lengthwise
