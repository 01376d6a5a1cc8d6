#include "positional/forgetting.h"

namespace lengthwise {

// -softplus(z) = ln sigmoid(-z): forgetting attention with the sign of its gate turned. The released code scales
// scores in three ways (by nothing in training, by the model's width in its notebook, by the head's in the paper); here
// the model's score scale holds, and the term stands beside it.
extern const EncodingEntry cable_encoding{
    .info = {.name = "cable",
             .label = "CABLE",
             .family = "content",
             .formula = "S_ij -= sum over j < t <= i of softplus(<w_h, x_t> + b_h)",
             .paper = "Veisi et al. 2025 (2503.08067)",
             .learned = "width x heads and heads, in each layer"},
    .options = {{"bias", "0", "of the gates at the start; smaller forgets less"}},
    .make = [](const EncodingArguments& arguments, const EncodingShape& shape, EncodingParameters parameters)
        -> std::unique_ptr<Encoding> { return std::make_unique<Forgetting>(-1.0, arguments, shape, parameters); }};

}  // namespace lengthwise
