// Products over many rows, by tiles of our choice, beside cuBLAS's choice and a product in float.
#include "gpu/products.h"

#include <c10/cuda/CUDAStream.h>

#include "tests/gpu/gpu_run.h"

namespace lengthwise {
namespace {

using namespace testing_gpu;

class GpuProducts : public GpuTest {
 protected:
  static at::Tensor drawn(int64_t rows, int64_t columns) {
    return at::randn({rows, columns}, at::TensorOptions(at::kCUDA).dtype(at::kBFloat16));
  }
  static double apart(const at::Tensor& a, const at::Tensor& b) {
    return (a.to(at::kFloat) - b).norm().item<double>() / b.norm().item<double>();
  }
};

constexpr int64_t kMany = 8192 + 64;  // rows for which tiles are chosen, and not a multiple of theirs
constexpr int64_t kFew = 4096;        // rows for which cuBLAS chooses

TEST_F(GpuProducts, OfManyRowsAreThoseOfFewRows) {
  at::manual_seed(1);
  Products products(gpu::Storage::bfloat16, /*tf32=*/false, c10::cuda::getCurrentCUDAStream().stream());
  // Queries, keys and values; with the gates of twelve heads beside them; attention's result; a side that ends in the
  // middle of a tile.
  for (const auto& [in, out] : {std::pair<int64_t, int64_t>{768, 2304}, {768, 2320}, {768, 768}, {96, 328}}) {
    SCOPED_TRACE(fmt::format("{} x {}", in, out));
    const at::Tensor x = drawn(kMany, in), w = drawn(in, out);
    const at::Tensor many = at::full({kMany, out}, NAN, x.options()), few = at::full({kFew, out}, NAN, x.options());
    products.multiply(x.data_ptr(), in, w.data_ptr(), many.data_ptr(), kMany, in, out);
    products.multiply(x.data_ptr(), in, w.data_ptr(), few.data_ptr(), kFew, in, out);
    EXPECT_LT(apart(many, at::matmul(x.to(at::kFloat), w.to(at::kFloat))), 4e-3);
    EXPECT_LT(apart(many.slice(0, 0, kFew), few.to(at::kFloat)), 1e-3);

    const at::Tensor back = at::full({kMany, in}, NAN, x.options());
    products.multiply_transposed(many.data_ptr(), w.data_ptr(), back.data_ptr(), in, gpu::Storage::bfloat16, kMany, in,
                                 out);
    EXPECT_LT(apart(back, at::matmul(many.to(at::kFloat), w.to(at::kFloat).t())), 4e-3);
  }
}

TEST_F(GpuProducts, OfManyRowsReadAndWriteRowsThatStandApart) {
  at::manual_seed(2);
  Products products(gpu::Storage::bfloat16, /*tf32=*/false, c10::cuda::getCurrentCUDAStream().stream());
  const at::Tensor x = drawn(kMany, 1024), w = drawn(768, 768);
  const at::Tensor left = x.slice(1, 0, 768);  // of every row
  const at::Tensor result = at::full({kMany, 768}, NAN, x.options());
  products.multiply(x.data_ptr(), 1024, w.data_ptr(), result.data_ptr(), kMany, 768, 768);
  EXPECT_LT(apart(result, at::matmul(left.to(at::kFloat), w.to(at::kFloat))), 4e-3);
  const at::Tensor back = at::full({kMany, 1024}, 7, x.options());
  products.multiply_transposed(result.data_ptr(), w.data_ptr(), back.data_ptr(), 1024, gpu::Storage::bfloat16, kMany,
                               768, 768);
  EXPECT_LT(apart(back.slice(1, 0, 768), at::matmul(result.to(at::kFloat), w.to(at::kFloat).t())), 4e-3);
  EXPECT_TRUE(at::equal(back.slice(1, 768), at::full({kMany, 256}, 7, x.options())));
}

TEST_F(GpuProducts, AreAskedForByTilesWhereThatPays) {
  const auto pays = [](int64_t m, int64_t n, int64_t k) { return TiledProduct{.m = m, .n = n, .k = k}.pays(); };
  EXPECT_TRUE(pays(32768, 2304, 768));
  EXPECT_TRUE(pays(32768, 768, 768));
  EXPECT_FALSE(pays(1920, 2304, 768));
  EXPECT_FALSE(pays(32768, 768, 3072));
  TiledProducts tiled;
  const at::Tensor x = drawn(kMany, 768), w = drawn(768, 768), c = at::empty({kMany, 768}, x.options());
  const at::Tensor workspace = at::empty({32 << 20}, x.options().dtype(at::kByte));
  TiledProduct product{.m = kMany, .n = 768, .k = 768, .a_stride = 768, .b_stride = 768, .c_stride = 768};
  for (const bool transposed : {false, true}) {
    product.b_transposed = transposed;
    EXPECT_TRUE(tiled.run(product, x.data_ptr(), w.data_ptr(), c.data_ptr(), workspace.data_ptr(),
                          static_cast<size_t>(workspace.numel()), c10::cuda::getCurrentCUDAStream().stream()))
        << "cublasLt offers no such tiles here";
  }
}

}  // namespace
}  // namespace lengthwise
