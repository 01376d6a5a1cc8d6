#include "positional/entry.h"
#include "positional/formulas.h"
#include "positional/linear_bias.h"

namespace lengthwise {

extern const EncodingEntry alibi_encoding{
    .info = {.name = "alibi",
             .label = "ALiBi",
             .family = "bias",
             .formula = "S_ij -= slope[head] (i - j), slopes 2^(-8h/H)",
             .paper = "Press et al. 2022 (2108.12409)"},
    .make = [](const EncodingArguments&, const EncodingShape& shape, EncodingParameters) -> std::unique_ptr<Encoding> {
      return std::make_unique<LinearBias>(alibi_slopes(shape.heads), shape);
    }};

}  // namespace lengthwise
