#include <ATen/ATen.h>

#include <cmath>

#include "positional/rotation.h"
#include "positional/trained_length.h"

namespace lengthwise {
namespace {

/// RoPE with frequencies that are denser towards the high end, by a hyperbolic cosine:
///
///     w_c = base^(-f_c), f_c = 1 - asinh((1 - u_c) sinh tau) / tau, u_c = (c + 1/2) / (d/2)
///
/// tau = d / sqrt(trained) unless it is given. As tau goes to 0 the exponents become u_c, those of RoPE but for half a
/// step.
at::Tensor frequencies(const EncodingArguments& arguments, const EncodingShape& shape) {
  const auto pairs = static_cast<double>(shape.head_dim / 2);
  double tau = arguments.number("tau", 0, 100);
  if (tau == 0) tau = 2 * pairs / std::sqrt(static_cast<double>(trained_length(arguments, shape)));
  const at::Tensor u =
      (at::arange(shape.head_dim / 2, at::TensorOptions(shape.device).dtype(at::kDouble)) + 0.5) / pairs;
  const at::Tensor exponents = 1 - at::asinh((1 - u) * std::sinh(tau)) / tau;
  return at::exp(exponents * -std::log(rotary_base(arguments)));
}

}  // namespace

extern const EncodingEntry evq_cosh_encoding{
    .info = {.name = "evq-cosh",
             .label = "EVQ-cosh",
             .family = "rotation",
             .formula = "RoPE with w_c = base^(asinh((1 - u_c) sinh tau) / tau - 1), u_c = (2c + 1) / d",
             .paper = "EVQ-Cosh 2026, code (github.com/misaya-yang/hybrid-rope)",
             .aliases = {"evq"}},
    .options = {{"tau", "0", "how much denser the high frequencies are; 0: dims of a head / sqrt(trained)"},
                trained_option(),
                base_option()},
    .make = [](const EncodingArguments& arguments, const EncodingShape& shape,
               EncodingParameters) -> std::unique_ptr<Encoding> {
      return std::make_unique<RotaryEncoding>(frequencies(arguments, shape), shape);
    }};

}  // namespace lengthwise
