#pragma once
/// Which capacities a batch is run with. Few of them, so that few graphs are captured; close ones, so that little is
/// computed for rows that are not there.
#include <algorithm>
#include <bit>

#include "gpu/decoder_passes.h"

namespace lengthwise {

/// Up to a multiple of 128, of a sixteenth of the power of two below where that is more.
inline int64_t round_rows(int64_t rows) {
  const int64_t step = std::max<int64_t>(
      128, static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(std::max<int64_t>(1, rows)))) / 16);
  return (rows + step - 1) / step * step;
}

/// The smallest shape in use that fits a batch.
inline PassShape bucket_of(int64_t sequences, int64_t tokens, int64_t targets, int64_t longest) {
  PassShape shape;
  shape.sequences = sequences;
  shape.tokens = round_rows(tokens);
  // Only the end of the model runs over these rows: coarser steps cost little and save graphs.
  const int64_t step = std::max<int64_t>(256, shape.tokens / 8 / 128 * 128);
  shape.every_token = targets == tokens;
  shape.targets = shape.every_token ? shape.tokens : std::min(shape.tokens, (targets + step - 1) / step * step);
  shape.longest = std::max<int64_t>(32, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(longest))));
  return shape;
}

}  // namespace lengthwise
