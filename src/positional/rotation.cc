#include "positional/rotation.h"

#include <ATen/ATen.h>

#include "positional/formulas.h"

namespace lengthwise {

Rotation turned(const at::Tensor& positions, const at::Tensor& frequencies, at::ScalarType type,
                const at::Tensor& factor) {
  if (frequencies.numel() == 0) return {};
  const at::Tensor angles = positions.to(at::kDouble).unsqueeze(-1) * frequencies;
  const auto scaled = [&](const at::Tensor& x) { return (factor.defined() ? x * factor : x).to(type); };
  return {scaled(at::cos(angles)), scaled(at::sin(angles))};
}

RotaryEncoding::RotaryEncoding(at::Tensor frequencies, const EncodingShape& shape)
    : frequencies_(std::move(frequencies)), type_(shape.type) {}

LayerValues RotaryEncoding::layer(int64_t, const EncodingContext& context) const {
  LayerValues values;
  values.query = turned(context.positions, frequencies_, type_);
  return values;
}

double rotary_base(const EncodingArguments& arguments) {
  const double base = arguments.number("base");
  if (!(base > 1)) arguments.refuse("base", "above 1");
  return base;
}

at::Tensor full_frequencies(const EncodingArguments& arguments, const EncodingShape& shape) {
  return geometric_frequencies(shape.head_dim / 2 * 2, rotary_base(arguments), shape.device);
}

EncodingOption base_option() {
  return {"base", "10000", "of the geometric frequencies", "rotary-base"};
}

TrainedRotation trained_rotation(const EncodingArguments& arguments, const EncodingShape& shape) {
  const double fraction = arguments.number("fraction");
  const int64_t width = static_cast<int64_t>(fraction * static_cast<double>(shape.head_dim)) / 2 * 2;
  if (!(fraction > 0) || fraction > 1 || width < 2) {
    arguments.refuse("fraction", fmt::format("above 0 and at most 1 and rotate at least 2 of the {} dims of a head",
                                             shape.head_dim));
  }
  const double base = rotary_base(arguments);
  return {width, base, geometric_frequencies(width, base, shape.device)};
}

std::vector<EncodingOption> trained_rotation_options(std::vector<EncodingOption> options) {
  options.push_back(
      {"fraction", "0.25", "share of a head that is rotated; the paper's code uses 0.25", "rotary-fraction"});
  options.push_back(base_option());
  return options;
}

EncodingOption factor_option(const std::string& fallback) {
  return {"factor", fallback, "how many times longer than in training sequences are to be; 1 is RoPE"};
}

double factor_of(const EncodingArguments& arguments) {
  return arguments.number("factor", 1, 1e6);
}

}  // namespace lengthwise
