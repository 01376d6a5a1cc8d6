#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "positional/rotation.h"

namespace lengthwise {
namespace {

/// RoPE over the whole head with a decay of each pair, the faster the higher its frequency:
///
///     query pairs times z_c^(i/scale), key pairs times z_c^(-j/scale), z_c = (2c/d + gamma) / (1 + gamma)
///
/// A pair's part of the score has z_c^((i-j)/scale) then. The released code counts i and j from the middle of the
/// sequence, to stay in the range of floats; the scores are the same, but a key would have to change when the sequence
/// grows. Counting from its start, powers leave that range at some position, which is refused.
class Xpos : public Encoding {
 public:
  Xpos(const EncodingArguments& arguments, const EncodingShape& shape)
      : frequencies_(full_frequencies(arguments, shape)), scale_(arguments.number("scale")), type_(shape.type) {
    const double gamma = arguments.number("gamma");
    if (!(gamma > 0)) arguments.refuse("gamma", "above 0");
    if (!(scale_ > 0)) arguments.refuse("scale", "above 0");
    const int64_t pairs = frequencies_.size(0);
    const at::Tensor share = at::arange(pairs, frequencies_.options()) / static_cast<double>(pairs);
    log_decay_ = at::log((share + gamma) / (1 + gamma)) / scale_;
    constexpr double kRange = 80;  // e^87 is about the largest float
    limit_ = static_cast<int64_t>(std::min(1e15, kRange * scale_ / std::log((1 + gamma) / gamma)));
  }

  LayerValues layer(int64_t, const EncodingContext& context) const override {
    const at::Tensor logs = context.positions.to(at::kDouble).unsqueeze(-1) * log_decay_;
    LayerValues values;
    values.query = turned(context.positions, frequencies_, type_, at::exp(logs));
    values.key = turned(context.positions, frequencies_, type_, at::exp(-logs));
    return values;
  }

  std::optional<int64_t> position_limit() const override { return limit_; }

 private:
  at::Tensor frequencies_;  ///< [pair] double
  at::Tensor log_decay_;    ///< [pair] double, per token
  double scale_;
  int64_t limit_;
  at::ScalarType type_;
};

}  // namespace

extern const EncodingEntry xpos_encoding{
    .info = {.name = "xpos",
             .label = "xPos",
             .family = "rotation",
             .formula = "RoPE, and pair c of the score times z_c^((i - j) / scale), z_c = (2c/d + gamma) / (1 + gamma)",
             .paper = "Sun et al. 2022 (2212.10554)"},
    .options = {{"scale", "512", "tokens over which a pair decays by z_c"},
                {"gamma", "0.4", "the larger, the less pairs differ in their decay"},
                base_option()},
    .make = [](const EncodingArguments& arguments, const EncodingShape& shape,
               EncodingParameters) -> std::unique_ptr<Encoding> { return std::make_unique<Xpos>(arguments, shape); }};

}  // namespace lengthwise
