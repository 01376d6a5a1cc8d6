#pragma once
/// The head in pieces: logits of so many rows at once that memory does not grow with targets times vocabulary.
#include <algorithm>
#include <cstdint>

namespace lengthwise {

/// Logits that exist at once: 32 MiB of floats. A task's batch is one piece.
inline constexpr int64_t kHeadLogits = int64_t{1} << 23;

/// Calls body(first row, rows) for pieces of `rows` rows, whose sizes depend on nothing else: the same sums in every
/// run.
template <class Body>
void for_head_pieces(int64_t rows, int64_t vocabulary, const Body& body) {
  const int64_t most = std::max<int64_t>(64, kHeadLogits / vocabulary);
  for (int64_t first = 0; first < rows; first += most) body(first, std::min(most, rows - first));
}

}  // namespace lengthwise
