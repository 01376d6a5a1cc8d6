#pragma once
/// The end of a step of generation: every living sequence takes the token that was found best for it.
#include "gpu_kernels/launch.h"

namespace lengthwise::gpu {

struct NextToken {
  int64_t rows = 0;
  const int32_t* best = nullptr;  ///< [row]
  int32_t end = 0;                ///< the token that ends a sequence
  int64_t capacity = 0;           ///< tokens of a sequence; the last place ends it too
  int32_t* tokens = nullptr;      ///< [row] the last token of each sequence,
  int32_t* positions = nullptr;   ///< [row] its position,
  int32_t* alive = nullptr;       ///< [row] 1 until the end, then 0
  int32_t* made = nullptr;        ///< [row, capacity] the tokens, each at its position
};

void next_token(const NextToken& args, cudaStream_t stream);

}  // namespace lengthwise::gpu
