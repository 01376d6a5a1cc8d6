#include "positional/forgetting.h"

namespace lengthwise {

// The gate alone, without RoPE, output gate or normalised queries and keys ("Pro"). Public codes start its bias at 0
// (the authors') or at 5, which is a horizon of 2 or of 150 tokens: 0 here. The term stands beside the scaled product,
// not inside the scale.
extern const EncodingEntry fox_encoding{
    .info = {.name = "fox",
             .label = "FoX",
             .family = "content",
             .formula = "S_ij += sum over j < t <= i of ln sigmoid(<w_h, x_t> + b_h)",
             .paper = "Lin et al. 2025 (2503.02130)",
             .learned = "width x heads and heads, in each layer",
             .aliases = {"forgetting", "forgetting-attention"}},
    .options = {{"bias", "0", "of the gates at the start; larger forgets less"}},
    .make = [](const EncodingArguments& arguments, const EncodingShape& shape, EncodingParameters parameters)
        -> std::unique_ptr<Encoding> { return std::make_unique<Forgetting>(1.0, arguments, shape, parameters); }};

}  // namespace lengthwise
