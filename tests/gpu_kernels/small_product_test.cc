// Products of small matrices on the GPU against the CPU's in double.
#include "gpu_kernels/small_product.h"

#include "tests/gpu_kernels/device_tensor.h"

namespace lengthwise::gpu {
namespace {

struct ProductCase {
  int64_t m, n, k;
  Storage out = Storage::bfloat16;
};

class GpuSmallProduct : public testing::TestWithParam<ProductCase> {};

int64_t padded(int64_t size) {
  return (size + 7) / 8 * 8;
}

/// Rows at a distance that is a multiple of 8; what lies between is never to be used.
at::Tensor with_stride(const at::Tensor& x) {
  at::Tensor wide = at::full({x.size(0), padded(x.size(1))}, 1e4).to(at::kBFloat16);
  wide.narrow(1, 0, x.size(1)).copy_(x);
  return wide;
}

TEST_P(GpuSmallProduct, AgreesWithTheCpu) {
  if (!device_present()) GTEST_SKIP() << "no GPU is present";
  const ProductCase& c = GetParam();
  at::manual_seed(5);
  const at::Tensor a = at::randn({c.m, c.k}).to(at::kBFloat16);
  const at::Tensor b = at::randn({c.k, c.n}).to(at::kBFloat16);
  const at::Tensor expected = at::mm(a.to(at::kDouble), b.to(at::kDouble));
  DeviceTensor parts({std::max<int64_t>(1, small_product_parts(c.m, c.n, c.k))}, at::kFloat);
  const DeviceTensor tickets(at::zeros({kSmallProductTickets}, at::kInt));
  for (const bool a_transposed : {false, true}) {
    for (const bool b_transposed : {false, true}) {
      if (c.k % 8 != 0 && !(a_transposed && !b_transposed)) continue;
      const at::Tensor stored_a = with_stride(a_transposed ? a.t() : a);
      const at::Tensor stored_b = with_stride(b_transposed ? b.t() : b);
      const DeviceTensor on_device_a(stored_a);
      const DeviceTensor on_device_b(stored_b);
      at::Tensor first;
      for (int repetition = 0; repetition < 2; ++repetition) {
        const DeviceTensor result({c.m, padded(c.n)}, type_of(c.out));
        Product args;
        args.m = c.m;
        args.n = c.n;
        args.k = c.k;
        args.a = on_device_a.data();
        args.a_stride = stored_a.size(1);
        args.a_transposed = a_transposed;
        args.b = on_device_b.data();
        args.b_stride = stored_b.size(1);
        args.b_transposed = b_transposed;
        args.c = result.data();
        args.c_stride = padded(c.n);
        args.c_storage = c.out;
        args.parts = parts.data<float>();
        args.tickets = tickets.data<uint32_t>();
        ASSERT_TRUE(small_product_fits(args, std::max<int64_t>(1, small_product_parts(c.m, c.n, c.k))));
        small_product(args, nullptr);
        const at::Tensor whole = result.host();
        const at::Tensor computed = whole.narrow(1, 0, c.n);
        expect_close(computed, expected, tolerance_of(c.out), "product");
        // Nothing is written behind a row's end: the bytes are still 0xff, which is not a number.
        if (padded(c.n) > c.n) {
          EXPECT_TRUE(whole.narrow(1, c.n, padded(c.n) - c.n).isnan().all().item<bool>());
        }
        if (repetition == 0) first = whole.clone();
        expect_equal(whole, first, "the second product");
      }
    }
  }
  EXPECT_EQ(tickets.host().abs().sum().item<int64_t>(), 0);
}

INSTANTIATE_TEST_SUITE_P(Cases, GpuSmallProduct,
                         testing::Values(ProductCase{64, 64, 64}, ProductCase{1, 1, 8}, ProductCase{70, 59, 128},
                                         ProductCase{130, 72, 40, Storage::float32}, ProductCase{128, 128, 333},
                                         ProductCase{59, 64, 700, Storage::float32}, ProductCase{640, 384, 128},
                                         ProductCase{200, 128, 512, Storage::float32}));

}  // namespace
}  // namespace lengthwise::gpu
