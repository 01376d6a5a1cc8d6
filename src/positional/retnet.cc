#include <cmath>

#include "positional/entry.h"
#include "positional/linear_bias.h"

namespace lengthwise {
namespace {

/// RetNet's decay by distance, gamma = 1 - 2^(-5-h), h = 0..H-1, as a factor of attention weights:
///
///     A_ij ~ gamma^(i - j) exp(S_ij),   S_ij += (i - j) ln gamma
///
/// RetNet has no softmax and multiplies its scores; within one the same factor is a linear bias, ALiBi with other
/// slopes. Ours is the rule of the paper's formula; many ports spread 1 - gamma from 1/32 to 1/512 over the heads
/// instead.
std::vector<double> decay_slopes(int64_t heads) {
  std::vector<double> slopes;
  for (int64_t head = 0; head < heads; ++head) {
    slopes.push_back(-std::log1p(-std::exp2(-5.0 - static_cast<double>(head))));
  }
  return slopes;
}

}  // namespace

extern const EncodingEntry retnet_encoding{
    .info = {.name = "retnet",
             .label = "RetNet decay",
             .family = "bias",
             .formula = "S_ij += (i - j) ln(1 - 2^(-5-h)), h = 0..H-1",
             .paper = "Sun et al. 2023 (2307.08621)",
             .aliases = {"retnet-decay"}},
    .make = [](const EncodingArguments&, const EncodingShape& shape, EncodingParameters) -> std::unique_ptr<Encoding> {
      return std::make_unique<LinearBias>(decay_slopes(shape.heads), shape);
    }};

}  // namespace lengthwise
