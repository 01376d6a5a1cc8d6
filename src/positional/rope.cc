#include "positional/rotation.h"

namespace lengthwise {

extern const EncodingEntry rope_encoding{.info = {.name = "rope",
                                                  .label = "RoPE",
                                                  .family = "rotation",
                                                  .formula = "turn pairs (2c, 2c+1) of q_i, k_j by i w_c, j w_c",
                                                  .paper = "Su et al. 2021 (2104.09864)",
                                                  .aliases = {"rotary"}},
                                         .options = trained_rotation_options(),
                                         .make = [](const EncodingArguments& arguments, const EncodingShape& shape,
                                                    EncodingParameters) -> std::unique_ptr<Encoding> {
                                           return std::make_unique<RotaryEncoding>(
                                               trained_rotation(arguments, shape).frequencies, shape);
                                         }};

}  // namespace lengthwise
