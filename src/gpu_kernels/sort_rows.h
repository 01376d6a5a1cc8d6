#pragma once
/// The order of rows by their keys, for sums over the rows that have the same one (embedding.h). It needs nothing but
/// the batch, so that it can be made beside other things.
///
/// Up to 8,192 rows by counting, for each, those that come before: 2 us at 2,000. More of them in runs of 1,024, each
/// sorted by a block, and searched by the rows of all others.
#include "gpu_kernels/launch.h"

namespace lengthwise::gpu {

/// order [capacity]: the rows 0..capacity-1 by ascending key, equal keys by ascending row. Keys are not negative. Rows
/// from *rows on (nullptr: none) stand at the end. `scratch`: sort_rows_scratch() numbers.
void sort_rows(const int32_t* keys, const int32_t* rows, int64_t capacity, int32_t* order, uint64_t* scratch,
               cudaStream_t stream);
int64_t sort_rows_scratch(int64_t capacity);

}  // namespace lengthwise::gpu
