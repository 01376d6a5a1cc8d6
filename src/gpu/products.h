#pragma once
/// Matrix products (GEMMs) on the GPU over raw device memory, all matrices row-major: through cuBLAS, those beside a
/// rectifier through CUTLASS where it was there at build time (gpu_kernels/rectified_product.h), and some of many rows
/// through cublasLt, with tiles of our choice (gpu/tiled_products.h).
///
/// A block of cuBLAS takes a multiprocessor for itself. Small products are asked to use few of them, so that the runs
/// of small models, several at once, find room beside each other.
///
/// Operands are stored as the decoder's activations are (bfloat16 or float); sums are float. One object serves one
/// stream: it owns its handle and workspace, so that products can be captured and give the same bits in every replay.
#include <ATen/core/Tensor.h>
#include <cublas_v2.h>

#include <cstdint>

#include "gpu/tiled_products.h"
#include "gpu_kernels/launch.h"

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

  /// dw [in, out] = [dw +] x^T [in, rows] dy [rows, out], stored as `dw_storage`; `accumulate`: dw is added to.
  void weight_gradient(const void* x, int64_t x_stride, const void* dy, void* dw, gpu::Storage dw_storage, int64_t rows,
                       int64_t in, int64_t out, bool accumulate = false);

  /// y = dropout(max(x w, 0)) for x [rows, in], w [in, out].
  void multiply_rectified(const void* x, const void* w, void* y, int64_t rows, int64_t in, int64_t out,
                          const gpu::DropoutArgs& dropout);

  /// The way back through a product that y, rectified and dropped out, was a factor of: dy [rows, in] = dz w^T where
  /// y > 0, scaled as what dropout kept, else 0; dz [rows, out], w [in, out].
  void pass_back_rectified(const void* dz, const void* w, const void* y, void* dy, int64_t rows, int64_t in,
                           int64_t out, const gpu::DropoutArgs& dropout);

 private:
  struct Product {
    int64_t m = 0, n = 0, k = 0;  ///< c [m, n] = [c +] a [m, k] b [k, n]
    const void* a = nullptr;      ///< [k, m] when transposed
    int64_t a_stride = 0;         ///< elements from one row to the next
    bool a_transposed = false;
    const void* b = nullptr;  ///< [n, k] when transposed
    int64_t b_stride = 0;
    bool b_transposed = false;
    void* c = nullptr;
    int64_t c_stride = 0;
    gpu::Storage c_storage = gpu::Storage::bfloat16;
    bool accumulate = false;
  };

  void run(const Product& product);
  /// False, with nothing done, for what cuBLAS chooses well itself.
  bool run_by_tiles(const Product& product);

  gpu::Storage operands_;
  cublasComputeType_t compute_;
  cudaStream_t stream_;
  cublasHandle_t handle_ = nullptr;
  TiledProducts tiled_;
  at::Tensor workspace_;
};

}  // namespace lengthwise
