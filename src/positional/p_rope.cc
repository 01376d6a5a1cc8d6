#include <ATen/ATen.h>

#include "positional/rotation.h"

namespace lengthwise {
namespace {

/// RoPE over the whole head of which the highest frequencies are kept and the others are 0:
///
///     w_c = base^(-2c/d) for c < floor(p d/2), 0 otherwise
///
/// Not the same as a part of the head (`rope(fraction=p)`), whose frequencies run over the part: those reach the lowest
/// ones whatever the part is.
at::Tensor frequencies(const EncodingArguments& arguments, const EncodingShape& shape) {
  const at::Tensor all = full_frequencies(arguments, shape);
  const double kept = arguments.number("p", 0, 1) * static_cast<double>(all.size(0));
  return all.narrow(0, 0, static_cast<int64_t>(kept));
}

}  // namespace

extern const EncodingEntry p_rope_encoding{
    .info = {.name = "p-rope",
             .label = "p-RoPE",
             .family = "rotation",
             .formula = "RoPE with the share p of the frequencies, the highest; the others are 0",
             .paper = "Barbero et al. 2024 (2410.06205)",
             .aliases = {"proportional-rope"}},
    .options = {{"p", "0.75", "share of the frequencies that is kept; 1 is RoPE, 0 is NoPE"}, base_option()},
    .make = [](const EncodingArguments& arguments, const EncodingShape& shape,
               EncodingParameters) -> std::unique_ptr<Encoding> {
      return std::make_unique<RotaryEncoding>(frequencies(arguments, shape), shape);
    }};

}  // namespace lengthwise
