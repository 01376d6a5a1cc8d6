#include <ATen/ATen.h>

#include <cmath>

#include "positional/rotation.h"
#include "positional/trained_length.h"

namespace lengthwise {
namespace {

/// Pairs are told apart by how often they turn within the trained length, r_c = trained w_c / (2 pi):
///
///     r_c > high: w_c;   r_c < low: w_c / factor;   between: b w_c + (1 - b) w_c / factor, b = (r_c - low)/(high -
///     low)
///
/// YaRN ramps over the number of the pair, this over how often it turns, and scores get no factor.
at::Tensor frequencies(const EncodingArguments& arguments, const EncodingShape& shape) {
  const at::Tensor trained = trained_rotation(arguments, shape).frequencies;
  const double low = arguments.number("low"), high = arguments.number("high");
  if (!(low > 0)) arguments.refuse("low", "above 0");
  if (!(high > low)) arguments.refuse("high", "more than low");
  const at::Tensor turns = trained * (static_cast<double>(trained_length(arguments, shape)) / (2 * M_PI));
  const at::Tensor kept = ((turns - low) / (high - low)).clamp(0, 1);
  return trained * (kept + (1 - kept) / factor_of(arguments));
}

}  // namespace

extern const EncodingEntry llama3_encoding{
    .info = {.name = "llama3",
             .label = "Llama 3 RoPE",
             .family = "rotation",
             .formula =
                 "RoPE with w_c / factor where c turns less than once within the trained length; over 4 times: w_c",
             .paper = "Grattafiori et al. 2024 (2407.21783), code",
             .aliases = {"llama-3"}},
    .options = trained_rotation_options(
        {factor_option("8"),
         trained_option(),
         {"low", "1", "pairs that turn less often within the trained length have their frequency divided"},
         {"high", "4", "pairs that turn more often keep theirs"}}),
    .make = [](const EncodingArguments& arguments, const EncodingShape& shape,
               EncodingParameters) -> std::unique_ptr<Encoding> {
      return std::make_unique<RotaryEncoding>(frequencies(arguments, shape), shape);
    }};

}  // namespace lengthwise
