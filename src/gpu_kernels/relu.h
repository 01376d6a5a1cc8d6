#pragma once
/// Rectifier and dropout in one pass, and the way back.
///
///     forward, in place:  x = dropout(max(x, 0))
///     backward, in place: dy = dy * scale where y > 0, else 0; y is the forward pass's result
///
/// [row, width] in T, width a multiple of 8; the mask's row is the row. Rows of zeros stay zeros, so no count is
/// needed.
#include "gpu_kernels/launch.h"

namespace lengthwise::gpu {

void relu_dropout_forward(Storage storage, void* x, int64_t rows, int64_t width, const DropoutArgs& dropout,
                          cudaStream_t stream);

void relu_dropout_backward(Storage storage, const void* y, void* dy, int64_t rows, int64_t width,
                           const DropoutArgs& dropout, cudaStream_t stream);

}  // namespace lengthwise::gpu
