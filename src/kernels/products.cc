#include "kernels/products.h"

#include <ATen/ops/addmm.h>
#include <ATen/ops/mm.h>

#include "core/error.h"
#include "kernels/panel_products.h"

// Part of torch's library where it was built with MKL. It adds into a float matrix at full speed, which no tensor
// operation does for bfloat16 operands.
extern "C" __attribute__((weak)) void cblas_gemm_bf16bf16f32(int layout, int trans_a, int trans_b, int m, int n, int k,
                                                             float alpha, const uint16_t* a, int lda, const uint16_t* b,
                                                             int ldb, float beta, float* c, int ldc);

namespace lengthwise {
namespace {

constexpr int kRowMajor = 101;
constexpr int kAsIs = 111;
constexpr int kTransposed = 112;

bool is_bf16(const at::Tensor& x) {
  return x.scalar_type() == at::kBFloat16;
}

at::Tensor whole_blocks(const at::Tensor& x) {
  const int64_t rows = rounded_rows(x.size(0));
  const auto bytes = static_cast<size_t>((x.storage_offset() + rows * x.size(1)) * x.element_size());
  LENGTHWISE_CHECK(x.is_contiguous() && x.storage().nbytes() >= bytes, "no room for whole blocks of rows");
  return x.as_strided({rows, x.size(1)}, x.strides());
}

void multiply_blocks(const at::Tensor& x, const at::Tensor& w, at::Tensor& y) {
  at::Tensor blocks = whole_blocks(y);
  at::mm_out(blocks, whole_blocks(x), w);
}

}  // namespace

void multiply(const at::Tensor& x, const ProductWeight& w, at::Tensor& y) {
  if (!w.value.defined()) return multiply_panels(x, w.panels, y);
  if (is_bf16(x)) return multiply_blocks(x, w.value, y);
  at::mm_out(y, x, w.value);
}

void multiply_transposed(const at::Tensor& x, const ProductWeight& w, at::Tensor& y) {
  if (!w.value.defined()) return multiply_panels(x, w.transposed, y);
  if (is_bf16(x)) return multiply_blocks(x, w.value.t(), y);
  at::mm_out(y, x, w.value.t());
}

void add_weight_gradient(const at::Tensor& x, const at::Tensor& dy, at::Tensor& gradient) {
  if (has_panel_products(x.scalar_type())) {
    add_gradient_by_panels(x, dy, gradient);
  } else if (!is_bf16(x)) {
    at::addmm_out(gradient, gradient, x.t(), dy);
  } else if (cblas_gemm_bf16bf16f32 == nullptr) {
    gradient.add_(at::mm(x.t(), dy));
  } else {
    const auto bits = [](const at::Tensor& t) { return static_cast<const uint16_t*>(t.const_data_ptr()); };
    const auto in = static_cast<int>(x.size(1));
    const auto out = static_cast<int>(dy.size(1));
    cblas_gemm_bf16bf16f32(kRowMajor, kTransposed, kAsIs, in, out, static_cast<int>(x.size(0)), 1, bits(x), in,
                           bits(dy), out, 1, gradient.data_ptr<float>(), out);
  }
}

}  // namespace lengthwise
