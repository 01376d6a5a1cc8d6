// Products with the rectifier in them against a product, a rectifier and a mask on the CPU.
#include "gpu_kernels/rectified_product.h"

#include "core/rng.h"
#include "kernels/elementwise.h"
#include "tests/gpu_kernels/device_tensor.h"

namespace lengthwise::gpu {
namespace {

struct ProductCase {
  int64_t rows, in, out;
  double dropout;
};

class GpuRectifiedProduct : public testing::TestWithParam<ProductCase> {};

TEST_P(GpuRectifiedProduct, AgreesWithTheCpu) {
  if (!device_present()) GTEST_SKIP() << "no GPU is present";
  const ProductCase& c = GetParam();
  if (!rectified_products_exist(Storage::bfloat16, c.in, c.out)) GTEST_SKIP() << "built without CUTLASS";
  at::manual_seed(5);
  constexpr uint64_t kStepSeed = 91;
  const auto random = [](at::IntArrayRef shape) { return at::randn(shape).to(at::kBFloat16); };
  const at::Tensor x = random({c.rows, c.in});
  const at::Tensor w = random({c.in, c.out});
  const at::Tensor d_z = random({c.rows, c.in});
  const at::Tensor v = random({c.out, c.in});
  const auto in_double = [](const at::Tensor& t) { return t.to(at::kDouble); };
  const Dropout dropout(c.dropout, mix64(kStepSeed + 64 * 1 + 3 + 1));
  at::Tensor y_expected = at::matmul(in_double(x), in_double(w));
  relu_dropout_forward(y_expected, dropout);

  const DeviceValue<uint64_t> seed(kStepSeed);
  const DropoutArgs args = c.dropout > 0 ? DropoutArgs(c.dropout, seed.data(), 3, 1) : DropoutArgs();
  const DeviceTensor x_in(x), w_in(w), d_z_in(d_z), v_in(v);
  const DeviceTensor y({c.rows, c.out}, at::kBFloat16), d_y({c.rows, c.out}, at::kBFloat16);
  rectified_product(x_in.data(), w_in.data(), y.data(), c.rows, c.in, c.out, args, nullptr);
  rectified_product_backward(d_z_in.data(), v_in.data(), y.data(), d_y.data(), c.rows, c.in, c.out, args, nullptr);
  const at::Tensor y_made = in_double(y.host());
  expect_close(y_made, y_expected, 1e-2, "y");

  // From the y that was made: a sum next to zero may fall on either side.
  at::Tensor d_y_expected = at::matmul(in_double(d_z), in_double(v).t());
  relu_dropout_backward(y_made, dropout, d_y_expected);
  expect_close(in_double(d_y.host()), d_y_expected, 1e-2, "dy");
}

INSTANTIATE_TEST_SUITE_P(Cases, GpuRectifiedProduct,
                         testing::Values(ProductCase{1, 64, 64, 0.1}, ProductCase{7, 256, 1024, 0.1},
                                         ProductCase{333, 128, 512, 0.1}, ProductCase{333, 128, 512, 0},
                                         ProductCase{1000, 200, 1040, 0.5}, ProductCase{1920, 768, 3072, 0.1}));

}  // namespace
}  // namespace lengthwise::gpu
