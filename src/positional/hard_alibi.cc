#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "positional/entry.h"

namespace lengthwise {
namespace {

/// Far below any score, so that its weight is exactly 0, and still finite: a sum of biases stays a number.
constexpr double kUnseen = -1e9;

/// Windows by head: of the first heads, head h = 0, 1, ... sees its own token and the h before it; the others see all
/// and have no encoding. Half of the heads have windows where the released code says nothing else (8 of 16); here it is
/// a share, so that it fits any number of heads, and one head at least sees all.
class HardAlibi : public Encoding {
 public:
  HardAlibi(const EncodingArguments& arguments, const EncodingShape& shape) : type_(shape.type) {
    const double heads = arguments.number("share", 0, 1) * static_cast<double>(shape.heads);
    const int64_t windows = std::min<int64_t>(std::lround(heads), shape.heads - 1);
    at::Tensor reach = at::arange(shape.heads, at::kLong);
    reach.narrow(0, windows, shape.heads - windows).fill_(int64_t{1} << 60);
    reach_ = reach.to(shape.device).unsqueeze(1);
  }

  LayerValues layer(int64_t, const EncodingContext& context) const override {
    LayerValues values;
    values.table = (at::arange(context.distances, reach_.options()) > reach_).to(type_) * kUnseen;
    return values;
  }

 private:
  at::ScalarType type_;
  at::Tensor reach_;  ///< [head, 1]: the farthest distance that it sees
};

}  // namespace

extern const EncodingEntry hard_alibi_encoding{
    .info = {.name = "hard-alibi",
             .label = "Hard ALiBi",
             .family = "bias",
             .formula = "head h = 0, 1, ... sees i - j <= h; half of the heads see all",
             .paper = "Jelassi et al. 2024 (2402.01032)"},
    .options = {{"share", "0.5", "of the heads that have windows"}},
    .make = [](const EncodingArguments& arguments, const EncodingShape& shape, EncodingParameters)
        -> std::unique_ptr<Encoding> { return std::make_unique<HardAlibi>(arguments, shape); }};

}  // namespace lengthwise
