#include "gpu/products.h"

#include <ATen/ATen.h>

#include "core/error.h"

namespace lengthwise {
namespace {

/// What cuBLAS asks for on Hopper.
constexpr int64_t kWorkspaceBytes = 32 << 20;

/// Small products are not spread over more multiprocessors than this: each takes all of a multiprocessor's memory, and
/// the runs of small models want the chip at the same time (eight runs of `tiny`: 27 % less time). The same alone and
/// beside others, because the order of sums depends on it.
constexpr int kFewMultiprocessors = 32;
constexpr double kSmallProduct = 5e8;  ///< multiplications

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
      workspace_(at::empty({kWorkspaceBytes}, at::TensorOptions(at::kCUDA).dtype(at::kByte))) {
  check(cublasCreate(&handle_), "start");
  check(cublasSetStream(handle_, stream), "stream");
  check(cublasSetWorkspace(handle_, workspace_.data_ptr(), static_cast<size_t>(kWorkspaceBytes)), "workspace");
}

Products::~Products() {
  cublasDestroy(handle_);
}

// cuBLAS counts columns first: it is asked for the transposed product, whose factors change places.

void Products::multiply(const void* x, int64_t x_stride, const void* w, void* y, int64_t rows, int64_t in,
                        int64_t out) {
  gemm(false, false, out, rows, in, w, out, x, x_stride, y, out, operands_);
}

void Products::multiply_transposed(const void* y, const void* w, void* x, int64_t x_stride, gpu::Storage x_storage,
                                   int64_t rows, int64_t in, int64_t out) {
  gemm(true, false, in, rows, out, w, out, y, out, x, x_stride, x_storage);
}

void Products::weight_gradient(const void* x, int64_t x_stride, const void* dy, void* dw, gpu::Storage dw_storage,
                               int64_t rows, int64_t in, int64_t out) {
  gemm(false, true, out, in, rows, dy, out, x, x_stride, dw, out, dw_storage);
}

void Products::gemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const void* a,
                    int64_t a_stride, const void* b, int64_t b_stride, void* c, int64_t c_stride,
                    gpu::Storage c_storage) {
  const float one = 1;
  const float zero = 0;
  const auto size = [](int64_t value) { return static_cast<int>(value); };
  const bool small = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) < kSmallProduct;
  check(cublasSetSmCountTarget(handle_, small ? kFewMultiprocessors : 0), "multiprocessors");
  check(cublasGemmEx(handle_, transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N, transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N, size(m),
                     size(n), size(k), &one, a, type_of(operands_), size(a_stride), b, type_of(operands_),
                     size(b_stride), &zero, c, type_of(c_storage), size(c_stride), compute_, CUBLAS_GEMM_DEFAULT),
        "product");
}

}  // namespace lengthwise
