#include <ATen/ATen.h>

#include "positional/entry.h"
#include "positional/formulas.h"

namespace lengthwise {
namespace {

/// Angles are made in double from integer positions; frequencies run over the rotated width, as in the study.
class Rotary : public Encoding {
 public:
  Rotary(const EncodingArguments& arguments, const EncodingShape& shape) : type_(shape.type) {
    const double fraction = arguments.number("fraction");
    const int64_t rotated = static_cast<int64_t>(fraction * static_cast<double>(shape.head_dim)) / 2 * 2;
    if (!(fraction > 0) || fraction > 1 || rotated < 2) {
      arguments.refuse("fraction", fmt::format("above 0 and at most 1 and rotate at least 2 of the {} dims of a head",
                                               shape.head_dim));
    }
    const double base = arguments.number("base");
    if (!(base > 1)) arguments.refuse("base", "above 1");
    frequencies_ = geometric_frequencies(rotated, base, shape.device);
  }

  LayerValues layer(int64_t, const EncodingContext& context) const override {
    const at::Tensor angles = context.positions.to(at::kDouble).unsqueeze(-1) * frequencies_;
    LayerValues values;
    values.query = {at::cos(angles).to(type_), at::sin(angles).to(type_)};
    return values;
  }

 private:
  at::ScalarType type_;
  at::Tensor frequencies_;  ///< [pair] double
};

}  // namespace

extern const EncodingEntry rope_encoding{
    .info = {.name = "rope",
             .label = "RoPE",
             .family = "rotation",
             .formula = "turn pairs (2c, 2c+1) of q_i, k_j by i w_c, j w_c",
             .paper = "Su et al. 2021 (2104.09864)",
             .aliases = {"rotary"}},
    .options = {{"fraction", "0.25", "share of a head that is rotated; the paper's code uses 0.25", "rotary-fraction"},
                {"base", "10000", "of the geometric frequencies", "rotary-base"}},
    .make = [](const EncodingArguments& arguments, const EncodingShape& shape,
               EncodingParameters) -> std::unique_ptr<Encoding> { return std::make_unique<Rotary>(arguments, shape); }};

}  // namespace lengthwise
