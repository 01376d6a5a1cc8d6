#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "positional/rotation.h"
#include "positional/trained_length.h"

namespace lengthwise {
namespace {

/// Pairs that turn often within the trained length keep their frequency, those that do not complete a turn are
/// interpolated, with a ramp between them, and all scores get a factor:
///
///     c(r) = d ln(trained / (2 pi r)) / (2 ln base): the pair that turns r times; d the rotated dims
///     low = floor(c(fast)), high = ceil(c(slow)), within 0..d-1
///     g_c = 1 - clip((c - low) / (high - low), 0, 1)
///     w'_c = g_c w_c + (1 - g_c) w_c / factor
///     S_ij times (0.1 ln factor + 1)^2
///
/// Codes disagree about the last line: the released one multiplies cos and sin by 0.1 ln factor + 1, so that scores get
/// its square; others multiply scores by it once. Ours is the square, as in the paper, and of the whole score: where a
/// part of the head turns, the released code would leave the score of the other part as it is.
class Yarn : public RotaryEncoding {
 public:
  Yarn(const EncodingArguments& arguments, const EncodingShape& shape)
      : RotaryEncoding(frequencies(arguments, shape), shape),
        temperature_(std::pow(0.1 * std::log(factor_of(arguments)) + 1, 2)),
        heads_(shape.heads),
        type_(shape.type) {}

  LayerValues layer(int64_t index, const EncodingContext& context) const override {
    LayerValues values = RotaryEncoding::layer(index, context);
    if (temperature_ != 1) {
      values.query_scale =
          at::full({context.positions.size(0), heads_}, temperature_, context.positions.options().dtype(type_));
    }
    return values;
  }

 private:
  static at::Tensor frequencies(const EncodingArguments& arguments, const EncodingShape& shape) {
    const TrainedRotation trained = trained_rotation(arguments, shape);
    const auto length = static_cast<double>(trained_length(arguments, shape));
    const auto width = static_cast<double>(trained.width);
    const double fast = arguments.number("fast"), slow = arguments.number("slow");
    if (!(slow > 0)) arguments.refuse("slow", "above 0");
    if (!(fast > slow)) arguments.refuse("fast", "more than slow");
    const auto pair = [&](double turns) {
      return width * std::log(length / (2 * M_PI * turns)) / (2 * std::log(trained.base));
    };
    const double low = std::clamp(std::floor(pair(fast)), 0.0, width - 1);
    const double high = std::clamp(std::ceil(pair(slow)), 0.0, width - 1);
    // As in the released code: a step where both ends are the same pair.
    const double ramp = std::max(high - low, 0.001);
    const at::Tensor pairs = at::arange(trained.width / 2, trained.frequencies.options());
    const at::Tensor kept = 1 - ((pairs - low) / ramp).clamp(0, 1);
    return trained.frequencies * (kept + (1 - kept) / factor_of(arguments));
  }

  double temperature_;
  int64_t heads_;
  at::ScalarType type_;
};

}  // namespace

extern const EncodingEntry yarn_encoding{
    .info = {.name = "yarn",
             .label = "YaRN",
             .family = "rotation",
             .formula = "RoPE with slow pairs divided by factor, a ramp to fast ones; S_ij times (0.1 ln factor + 1)^2",
             .paper = "Peng et al. 2023 (2309.00071)"},
    .options = trained_rotation_options(
        {factor_option(),
         trained_option(),
         {"fast", "32", "pairs that turn this often within the trained length, or more, keep their frequency"},
         {"slow", "1", "pairs that turn this often, or less, have theirs divided"}}),
    .make = [](const EncodingArguments& arguments, const EncodingShape& shape,
               EncodingParameters) -> std::unique_ptr<Encoding> { return std::make_unique<Yarn>(arguments, shape); }};

}  // namespace lengthwise
