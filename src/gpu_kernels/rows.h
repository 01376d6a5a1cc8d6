#pragma once
/// Rows by index: to[r] = from[index[r]], and zeros where index[r] < 0.
///
/// With a batch's loss rows this picks the rows of targets; with its target_at (assemble.h) it spreads gradients back
/// over all tokens with zeros elsewhere; with positions it picks rows of a table of angles.
#include "gpu_kernels/jobs.h"
#include "gpu_kernels/launch.h"

namespace lengthwise::gpu {

struct RowJob {
  const void* from = nullptr;
  void* to = nullptr;
  int64_t row_bytes = 0;  ///< a multiple of 4; of 16 where speed matters
};

/// The rows of many arrays by the same index [rows].
void gather_rows(const int32_t* index, int64_t rows, std::span<const RowJob> jobs, cudaStream_t stream);

/// to [row, to_columns] = from [row, from_columns], each in one piece: what `to` has more columns is filled with zeros,
/// what it has fewer is left behind. For weights whose rows are not a multiple of what products like.
struct ColumnJob {
  const void* from = nullptr;
  void* to = nullptr;
  int64_t rows = 0;
  int64_t from_columns = 0;
  int64_t to_columns = 0;
};

void copy_columns(Storage storage, std::span<const ColumnJob> jobs, cudaStream_t stream);

}  // namespace lengthwise::gpu
