#include "gpu/products.h"

#include <ATen/ATen.h>

#include "core/error.h"
#include "gpu_kernels/rectified_product.h"
#include "gpu_kernels/relu.h"

namespace lengthwise {
namespace {

/// What cuBLAS asks for on Hopper.
constexpr int64_t kWorkspaceBytes = 32 << 20;

/// Multiplications below which a product is small, and the multiprocessors it may use: `tiny` takes as long alone as
/// with all 132 of an H200, and eight runs at once are 1.4 times as fast (docs/kernels.md).
constexpr double kSmall = 2e8;
constexpr int kFewMultiprocessors = 32;

void check(cublasStatus_t status, const char* what) {
  LENGTHWISE_CHECK(status == CUBLAS_STATUS_SUCCESS, "cuBLAS: {} failed: {}", what, cublasGetStatusString(status));
}

cudaDataType_t type_of(gpu::Storage storage) {
  return storage == gpu::Storage::float32 ? CUDA_R_32F : CUDA_R_16BF;
}

}  // namespace

Products::Products(gpu::Storage operands, bool tf32, cudaStream_t stream)
    : operands_(operands),
      compute_(operands == gpu::Storage::float32 && tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F),
      stream_(stream),
      workspace_(at::empty({kWorkspaceBytes}, at::TensorOptions(at::kCUDA).dtype(at::kByte))) {
  check(cublasCreate(&handle_), "start");
  check(cublasSetStream(handle_, stream), "stream");
  check(cublasSetWorkspace(handle_, workspace_.data_ptr(), static_cast<size_t>(kWorkspaceBytes)), "workspace");
}

Products::~Products() {
  cublasDestroy(handle_);
}

void Products::multiply(const void* x, int64_t x_stride, const void* w, void* y, int64_t rows, int64_t in,
                        int64_t out) {
  run({.m = rows,
       .n = out,
       .k = in,
       .a = x,
       .a_stride = x_stride,
       .b = w,
       .b_stride = out,
       .c = y,
       .c_stride = out,
       .c_storage = operands_});
}

void Products::multiply_transposed(const void* y, const void* w, void* x, int64_t x_stride, gpu::Storage x_storage,
                                   int64_t rows, int64_t in, int64_t out) {
  run({.m = rows,
       .n = in,
       .k = out,
       .a = y,
       .a_stride = out,
       .b = w,
       .b_stride = out,
       .b_transposed = true,
       .c = x,
       .c_stride = x_stride,
       .c_storage = x_storage});
}

void Products::weight_gradient(const void* x, int64_t x_stride, const void* dy, void* dw, gpu::Storage dw_storage,
                               int64_t rows, int64_t in, int64_t out, bool accumulate) {
  run({.m = in,
       .n = out,
       .k = rows,
       .a = x,
       .a_stride = x_stride,
       .a_transposed = true,
       .b = dy,
       .b_stride = out,
       .c = dw,
       .c_stride = out,
       .c_storage = dw_storage,
       .accumulate = accumulate});
}

void Products::multiply_rectified(const void* x, const void* w, void* y, int64_t rows, int64_t in, int64_t out,
                                  const gpu::DropoutArgs& dropout) {
  if (gpu::rectified_products_exist(operands_, in, out)) {
    return gpu::rectified_product(x, w, y, rows, in, out, dropout, stream_);
  }
  multiply(x, in, w, y, rows, in, out);
  gpu::relu_dropout_forward(operands_, y, rows, out, dropout, stream_);
}

void Products::pass_back_rectified(const void* dz, const void* w, const void* y, void* dy, int64_t rows, int64_t in,
                                   int64_t out, const gpu::DropoutArgs& dropout) {
  if (gpu::rectified_products_exist(operands_, out, in)) {
    return gpu::rectified_product_backward(dz, w, y, dy, rows, out, in, dropout, stream_);
  }
  multiply_transposed(dz, w, dy, in, operands_, rows, in, out);
  gpu::relu_dropout_backward(operands_, y, dy, rows, in, dropout, stream_);
}

bool Products::run_by_tiles(const Product& product) {
  if (operands_ != gpu::Storage::bfloat16 || product.c_storage != gpu::Storage::bfloat16) return false;
  if (product.a_transposed || product.accumulate) return false;
  const TiledProduct tiled{.m = product.m,
                           .n = product.n,
                           .k = product.k,
                           .a_stride = product.a_stride,
                           .b_stride = product.b_stride,
                           .b_transposed = product.b_transposed,
                           .c_stride = product.c_stride};
  return tiled.pays() && tiled_.run(tiled, product.a, product.b, product.c, workspace_.data_ptr(),
                                    static_cast<size_t>(kWorkspaceBytes), stream_);
}

void Products::run(const Product& product) {
  if (run_by_tiles(product)) return;
  const double size = static_cast<double>(product.m) * static_cast<double>(product.n) * static_cast<double>(product.k);
  check(cublasSetSmCountTarget(handle_, size < kSmall ? kFewMultiprocessors : 0), "number of multiprocessors");
  const float one = 1;
  const float kept = product.accumulate ? 1 : 0;  // of what c was
  const auto narrow = [](int64_t value) { return static_cast<int>(value); };
  // cuBLAS counts columns first: it is asked for the transposed product, whose factors change places.
  check(cublasGemmEx(handle_, product.b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N,
                     product.a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N, narrow(product.n), narrow(product.m),
                     narrow(product.k), &one, product.b, type_of(operands_), narrow(product.b_stride), product.a,
                     type_of(operands_), narrow(product.a_stride), &kept, product.c, type_of(product.c_storage),
                     narrow(product.c_stride), compute_, CUBLAS_GEMM_DEFAULT),
        "product");
}

}  // namespace lengthwise
