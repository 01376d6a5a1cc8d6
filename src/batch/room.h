#pragma once
/// A batch laid into capacities: batches of different sizes become tensors of the same shapes, so that one captured
/// step serves them all.
///
/// Behind the real sequences stand others of filler tokens, as many as there is room left (some are empty), and behind
/// the real targets stand others, at the last token. Rows of real tokens and targets stay where they were, and nothing
/// that is computed for them changes, since sequences do not see each other; whoever adds up losses leaves out the
/// filler (weights of 0).
#include <compare>

#include "batch/batch.h"

namespace lengthwise {

struct BatchRoom {
  int64_t sequences = 0;
  int64_t tokens = 0;
  int64_t targets = 0;
  int64_t longest = 0;  ///< tokens of a sequence

  auto operator<=>(const BatchRoom&) const = default;
};

/// The room a batch is laid into: few different ones, little larger than the batch. `limit`: no sequence may be longer;
/// 0: none.
BatchRoom room_for(const Batch& batch, int64_t limit = 0);

/// The batch, on the CPU, laid into the room.
Batch in_room(const Batch& batch, const BatchRoom& room);

}  // namespace lengthwise
