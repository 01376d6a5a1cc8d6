#pragma once
/// Sums of partial results in a fixed order.
#include "gpu_kernels/jobs.h"
#include "gpu_kernels/launch.h"

namespace lengthwise::gpu {

/// out[g][c] = [out[g][c] +] sum over p of parts[g][p][c], p ascending within fixed groups.
///
/// One launch adds up the gains' gradients of all norms (groups = norms, out = their places in the gradient arena), or
/// a table's gradient of all layers (parts = layers * slots).
struct SumParts {
  const float* values = nullptr;
  int64_t groups = 0;
  int64_t parts = 0;
  int64_t columns = 0;
  int64_t group_stride = 0;  ///< elements from one group's first part to the next group's
  int64_t part_stride = 0;
  float* const* outs = nullptr;  ///< device: [group] pointers; nullptr: `out` with `out_stride`
  float* out = nullptr;
  int64_t out_stride = 0;
  bool accumulate = true;  ///< false: out is written, not added to
};

void sum_parts(const SumParts& args, cudaStream_t stream);

/// Where the numbers of one sum lie, and where it goes.
struct PositionSum {
  const float* values = nullptr;  ///< [part, token, column]
  int64_t parts = 0;
  float* out = nullptr;  ///< [position, column]
};

/// out[p][c] = sum over parts and over the tokens at position p of values[part][token][c], written whole, of many sums
/// alike. Positions are consecutive within a sequence.
struct SumByPosition {
  int64_t part_stride = 0;
  int64_t columns = 0;
  const int32_t* offsets = nullptr;    ///< [sequence + 1]
  const int32_t* positions = nullptr;  ///< [token]
  int64_t sequences = 0;
  int64_t rows = 0;  ///< positions 0 .. rows - 1
};

void sum_by_position(const SumByPosition& args, std::span<const PositionSum> sums, cudaStream_t stream);

}  // namespace lengthwise::gpu
