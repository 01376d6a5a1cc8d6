#pragma once
/// Biases of a tile of the fused CPU attention. Private to kernels/attention_tile.h.
#include <cstdint>

namespace lengthwise::attention_detail {

/// What is added to the scores of a tile while they are in registers: to that of row r and column j table[j - r],
/// keys[j] - own[r] and pairs[r * apart + j]. nullptr: nothing.
template <class T>
struct TileBias {
  const T* table = nullptr;
  const T* keys = nullptr;
  const T* own = nullptr;
  const T* pairs = nullptr;
  int64_t apart = 0;
};

}  // namespace lengthwise::attention_detail
