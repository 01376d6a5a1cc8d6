#pragma once
/// The two products of a feed-forward layer that have the rectifier beside them, and do its work before they store:
///
///     forward:   y  [rows, out] = dropout(max(x [rows, in] w [in, out], 0))
///     backward:  dy [rows, out] = scale * (dz [rows, in] v^T) where y > 0, else 0;  v [out, in]
///
/// bfloat16, sums in float, all matrices row-major without gaps; the same masks as relu.h, which is what they replace
/// after a plain product: 12 and 24 bytes a hidden number less to move.
///
/// Built on CUTLASS, with -DLENGTHWISE_CUTLASS=ON and its headers (`make deps-headers`), for compute capability 9.0.
#include "gpu_kernels/launch.h"

namespace lengthwise::gpu {

/// Whether there are such products for these operands. Without them: a plain product, then relu.h.
bool rectified_products_exist(Storage storage, int64_t in, int64_t out);

void rectified_product(const void* x, const void* w, void* y, int64_t rows, int64_t in, int64_t out,
                       const DropoutArgs& dropout, cudaStream_t stream);

void rectified_product_backward(const void* dz, const void* v, const void* y, void* dy, int64_t rows, int64_t in,
                                int64_t out, const DropoutArgs& dropout, cudaStream_t stream);

}  // namespace lengthwise::gpu
