#pragma once
/// Matrix products on the GPU over raw device memory, all matrices row-major: through cuBLAS, or, where they are small
/// and in bfloat16, by a kernel that leaves room on the chip for other runs (gpu_kernels/small_product.h).
///
/// Operands are stored as the decoder's activations are (bfloat16 or float); sums are float. One object serves one
/// stream: it owns its handle and workspace, so that products can be captured and give the same bits in every replay.
#include <ATen/core/Tensor.h>
#include <cublas_v2.h>

#include <cstdint>

#include "gpu_kernels/small_product.h"

namespace lengthwise {

class Products {
 public:
  /// `tf32`: float operands are rounded to 10 bits of mantissa and multiplied by the tensor cores.
  Products(gpu::Storage operands, bool tf32, cudaStream_t stream);
  ~Products();
  Products(const Products&) = delete;
  Products& operator=(const Products&) = delete;

  /// y [rows, out] = x [rows, in] w [in, out]; `x_stride` elements from one row of x to the next.
  void multiply(const void* x, int64_t x_stride, const void* w, void* y, int64_t rows, int64_t in, int64_t out);

  /// x [rows, in] = y [rows, out] w^T for w [in, out]. x is stored as `x_storage`.
  void multiply_transposed(const void* y, const void* w, void* x, int64_t x_stride, gpu::Storage x_storage,
                           int64_t rows, int64_t in, int64_t out);

  /// dw [in, out] = x^T [in, rows] dy [rows, out], stored as `dw_storage`.
  void weight_gradient(const void* x, int64_t x_stride, const void* dy, void* dw, gpu::Storage dw_storage, int64_t rows,
                       int64_t in, int64_t out);

 private:
  void run(gpu::Product product);

  gpu::Storage operands_;
  cublasComputeType_t compute_;
  cudaStream_t stream_;
  cublasHandle_t handle_ = nullptr;
  at::Tensor workspace_, tickets_;
};

}  // namespace lengthwise
