#include "positional/placed.h"

namespace lengthwise {

/// Any encoding at random positions: each sequence has a random subset of 0..max-1, ascending, in place of 0, 1, 2, ...
/// Longer sequences then have positions that were trained, closer together.
///
/// Public codes disagree. The paper draws per batch and in evaluation too; a later port draws in training alone. Ours
/// draws for each sequence, and in evaluation too, there from a fixed seed (data/placing.h). The paper's code for
/// relative encodings indexes past its table; here positions are drawn first and then subtracted. The paper's models
/// see whole sequences at once and draw as many positions as there are tokens; a decoder does not know how long its
/// answer will be, so that room is kept for one (data/placing.h).
extern const EncodingEntry randomized_encoding{
    .info = {.name = "randomized",
             .label = "Randomized",
             .family = "modifier",
             .formula = "the encoding in brackets at a random ascending subset of the positions 0..max-1",
             .paper = "Ruoss et al. 2023 (2305.16843)",
             .own_positions = true,
             .aliases = {"random-positions"}},
    .options = {max_option("512")},
    .make = [](const EncodingArguments& arguments, const EncodingShape& shape,
               EncodingParameters parameters) -> std::unique_ptr<Encoding> {
      return std::make_unique<Placed>(random_rule(PositionKind::randomized, arguments, shape), arguments, shape,
                                      parameters);
    },
    .least_parts = 1,
    .most_parts = 1};

/// The same with real numbers, drawn evenly from [0, max) and put into order. For encodings that are formulas of the
/// position or the distance; tables by distance are interpolated (positional/placed.h). Drawn in evaluation as in
/// training, as in the paper.
extern const EncodingEntry random_float_encoding{
    .info = {.name = "random-float",
             .label = "Random float",
             .family = "modifier",
             .formula = "the encoding in brackets at random real positions of [0, max), ascending",
             .paper = "Shimizu et al. 2026 (2602.14050)",
             .own_positions = true,
             .aliases = {"rfs", "random-float-sampling"}},
    .options = {max_option("512")},
    .make = [](const EncodingArguments& arguments, const EncodingShape& shape,
               EncodingParameters parameters) -> std::unique_ptr<Encoding> {
      return std::make_unique<Placed>(random_rule(PositionKind::random_float, arguments, shape), arguments, shape,
                                      parameters);
    },
    .least_parts = 1,
    .most_parts = 1};

}  // namespace lengthwise
