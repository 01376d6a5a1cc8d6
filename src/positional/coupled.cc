#include "positional/placed.h"

namespace lengthwise {

/// An encoding at coupled positions: tokens that belong together, as the digits of the same significance in both
/// addends and the sum, have the same. The task says which (Task::couple); in training a sequence's positions move by
/// one random number, as far as max allows, in evaluation they begin at 1 (data/placing.h). The paper feeds them to
/// learned embeddings; rotations and sinusoids go as well. Positions do not ascend, so that nothing goes by distance.
extern const EncodingEntry coupled_encoding{
    .info = {.name = "coupled",
             .label = "Coupled",
             .family = "modifier",
             .formula = "the encoding in brackets at the same position for tokens that the task couples, 0 for others",
             .paper = "Cho et al. 2024 (2405.20671)",
             .own_positions = true,
             .aliases = {"position-coupling"}},
    .options = {{"max", "128", "positions are below it"}},
    .make = [](const EncodingArguments& arguments, const EncodingShape& shape,
               EncodingParameters parameters) -> std::unique_ptr<Encoding> {
      const PositionRule rule{.kind = PositionKind::coupled, .max = arguments.whole("max", 2, 65536)};
      return std::make_unique<Placed>(rule, arguments, shape, parameters);
    },
    .least_parts = 1,
    .most_parts = 1};

}  // namespace lengthwise
