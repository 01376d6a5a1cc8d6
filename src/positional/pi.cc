#include <ATen/ATen.h>

#include "positional/rotation.h"

namespace lengthwise {

/// Position interpolation: positions are divided by the factor, so that a sequence `factor` times as long as those of
/// training meets the angles of training. The same as all frequencies divided by it.
extern const EncodingEntry pi_encoding{.info = {.name = "pi",
                                                .label = "PI",
                                                .family = "rotation",
                                                .formula = "RoPE with w_c / factor",
                                                .paper = "Chen et al. 2023 (2306.15595)",
                                                .aliases = {"position-interpolation", "linear-scaling"}},
                                       .options = trained_rotation_options({factor_option()}),
                                       .make = [](const EncodingArguments& arguments, const EncodingShape& shape,
                                                  EncodingParameters) -> std::unique_ptr<Encoding> {
                                         const at::Tensor frequencies =
                                             trained_rotation(arguments, shape).frequencies / factor_of(arguments);
                                         return std::make_unique<RotaryEncoding>(frequencies, shape);
                                       }};

}  // namespace lengthwise
