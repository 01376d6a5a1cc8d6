#include "positional/entry.h"

namespace lengthwise {

extern const EncodingEntry nope_encoding{.info = {.name = "nope",
                                                  .label = "NoPE",
                                                  .family = "none",
                                                  .formula = "nothing: order comes from the causal mask alone",
                                                  .paper = "Kazemnejad et al. 2023 (2305.19466)",
                                                  .aliases = {"none", "no-pe"}},
                                         .make = [](const EncodingArguments&, const EncodingShape&,
                                                    EncodingParameters) { return std::make_unique<Encoding>(); }};

}  // namespace lengthwise
