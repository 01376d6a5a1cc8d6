#pragma once
/// Embedding and its gradient.
///
///     x[t] = dropout(table[tokens[t]] + addition[at[t]])
///
/// table, addition and x [.., width] float, width a multiple of 4; rows from *rows on are written as 0. `at` gives the
/// addition's row (positions, for a table of positions); nullptr: row t. No addition: nullptr.
///
/// The gradient of a table is a sum over the tokens that used a row. It is made without atomic additions: once per
/// batch `sort_rows` (sort_rows.h) orders the tokens by the row they use; `embed_backward` walks that order in chunks,
/// and adds what crosses the border of a chunk afterwards, in order. The same pair serves a learned table of positions:
/// keys = positions.
#include "gpu_kernels/launch.h"

namespace lengthwise::gpu {

struct EmbedForward {
  int64_t capacity = 0;
  int64_t width = 0;
  const int32_t* rows = nullptr;  ///< device: the real count; nullptr: all
  const float* table = nullptr;
  const int32_t* tokens = nullptr;
  const float* addition = nullptr;
  const int32_t* at = nullptr;
  DropoutArgs dropout;
  float* x = nullptr;
};

void embed_forward(const EmbedForward& args, cudaStream_t stream);

inline constexpr int64_t kEmbedChunk = 16;

/// d_table[keys[t]] += dropout(dx[t]), over the real rows.
struct EmbedBackward {
  int64_t capacity = 0;
  int64_t width = 0;
  const int32_t* rows = nullptr;
  const int32_t* keys = nullptr;   ///< tokens or positions
  const int32_t* order = nullptr;  ///< from sort_rows of the same keys
  const float* dx = nullptr;
  DropoutArgs dropout;       ///< of the forward pass
  float* d_table = nullptr;  ///< added to
  float* borders = nullptr;  ///< scratch: 2 * width * ceil(capacity / kEmbedChunk) floats
};

void embed_backward(const EmbedBackward& args, cudaStream_t stream);

}  // namespace lengthwise::gpu
