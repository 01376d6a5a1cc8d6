#pragma once
/// A dropout mask as a tensor, for those who apply it by operations of their own: [row, column] of 0 and scale. The
/// other kernels never store one.
#include "gpu_kernels/launch.h"

namespace lengthwise::gpu {

void dropout_mask(const DropoutArgs& dropout, int64_t rows, int64_t columns, float* out, cudaStream_t stream);

}  // namespace lengthwise::gpu
