#include "gpu_kernels/rectified_product.h"

#ifdef LENGTHWISE_CUTLASS
#include "gpu_kernels/rectified_product.cuh"

namespace lengthwise::gpu {
namespace {

// The fastest of nine cuts at 1,792 to 32,768 rows of a hidden width of 3,072 (docs/kernels.md): while one warp group
// multiplies, the other one applies the rectifier to its tile.
using Tiles = rectified::Cut<128, 128, false, 1, 2>;

int multiprocessors() {
  int device = 0;
  int count = 0;
  check_cuda(cudaGetDevice(&device), "device");
  check_cuda(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device), "multiprocessors");
  return count;
}

int narrow(int64_t value) {
  return static_cast<int>(value);
}

}  // namespace

bool rectified_products_exist(Storage storage, int64_t in, int64_t out) {
  return storage == Storage::bfloat16 && in % 8 == 0 && out % 8 == 0;
}

void rectified_product(const void* x, const void* w, void* y, int64_t rows, int64_t in, int64_t out,
                       const DropoutArgs& dropout, cudaStream_t stream) {
  if (rows == 0) return;
  rectified::launch_product<rectified::ProductOf<rectified::Forward, Tiles>>(
      narrow(rows), narrow(out), narrow(in), x, w, nullptr, y, {{}, dropout}, multiprocessors(), stream);
}

void rectified_product_backward(const void* dz, const void* v, const void* y, void* dy, int64_t rows, int64_t in,
                                int64_t out, const DropoutArgs& dropout, cudaStream_t stream) {
  if (rows == 0) return;
  const float scale = dropout.active() ? dropout.scale : 1.0f;
  rectified::launch_product<rectified::ProductOf<rectified::Backward, Tiles>>(
      narrow(rows), narrow(out), narrow(in), dz, v, y, dy, {{}, {}, {scale}}, multiprocessors(), stream);
}

}  // namespace lengthwise::gpu

#else

namespace lengthwise::gpu {

bool rectified_products_exist(Storage, int64_t, int64_t) {
  return false;
}

void rectified_product(const void*, const void*, void*, int64_t, int64_t, int64_t, const DropoutArgs&, cudaStream_t) {
  require(false, "this build has no products with a rectifier: CUTLASS was not found");
}

void rectified_product_backward(const void*, const void*, const void*, void*, int64_t, int64_t, int64_t,
                                const DropoutArgs&, cudaStream_t) {
  require(false, "this build has no products with a rectifier: CUTLASS was not found");
}

}  // namespace lengthwise::gpu

#endif
