// The decay of keys, and the columns it is read from, against ordinary operations in double with autograd.
#include "gpu_kernels/key_decay.h"

#include "tests/gpu_kernels/device_tensor.h"

namespace lengthwise::gpu {
namespace {

struct Case {
  std::vector<int64_t> lengths;
  Storage storage = Storage::bfloat16;
  int64_t heads = 4;
  int64_t filler = 4;
  double sign = 1;
};

std::ostream& operator<<(std::ostream& to, const Case& c) {
  to << (c.storage == Storage::float32 ? "float" : "bf16") << " heads " << c.heads << " sign " << c.sign << " lengths";
  for (const int64_t length : c.lengths) to << ' ' << length;
  return to;
}

constexpr int64_t kBefore = 8;   ///< columns in front of those of the decay
constexpr int64_t kPadding = 5;  ///< rows behind the last sequence

class GpuKeyDecay : public testing::TestWithParam<Case> {};

TEST_P(GpuKeyDecay, AgreesWithOrdinaryOperations) {
  if (!device_present()) GTEST_SKIP() << "no GPU is present";
  const Case& c = GetParam();
  at::manual_seed(3);
  std::vector<int32_t> offsets{0};
  for (const int64_t length : c.lengths) offsets.push_back(offsets.back() + static_cast<int32_t>(length));
  const int64_t tokens = offsets.back();
  const int64_t capacity = tokens + kPadding;
  const int64_t stride = kBefore + c.heads + c.filler;
  const at::Tensor columns = (3 * at::randn({capacity, stride})).to(type_of(c.storage));
  const at::Tensor constant = at::randn({c.heads});
  const at::Tensor d_bias = at::randn({capacity, c.heads});

  const at::Tensor x = columns.narrow(1, kBefore, c.heads).narrow(0, 0, tokens).to(at::kDouble).requires_grad_(true);
  const at::Tensor shift = constant.to(at::kDouble).requires_grad_(true);
  std::vector<at::Tensor> sums;
  for (size_t s = 0; s < c.lengths.size(); ++s) {
    const at::Tensor own = x.narrow(0, offsets[s], c.lengths[s]);
    sums.push_back(-at::log_sigmoid(c.sign * (own + shift)).cumsum(0));
  }
  const at::Tensor expected = at::cat(sums);
  (expected * d_bias.narrow(0, 0, tokens).to(at::kDouble)).sum().backward();

  const DeviceTensor device_columns(columns), device_constant(constant), device_d_bias(d_bias);
  const DeviceTensor device_offsets(at::tensor(offsets, at::kInt));
  KeyDecay args;
  args.storage = c.storage;
  args.token_capacity = capacity;
  args.sequences = std::ssize(c.lengths);
  args.heads = c.heads;
  args.offsets = device_offsets.data<int32_t>();
  args.columns = static_cast<char*>(device_columns.data()) + kBefore * bytes_of(c.storage);
  args.stride = stride;
  args.constant = device_constant.data<float>();
  args.sign = static_cast<float>(c.sign);
  const DeviceTensor bias({capacity, c.heads}, at::kFloat);
  key_decay_forward(args, bias.data<float>(), nullptr);
  const DeviceTensor d_columns(at::full({capacity, stride}, 9.0).to(type_of(c.storage)));
  const DeviceTensor parts({args.sequences, c.heads}, at::kFloat);
  KeyDecayGradients gradients;
  gradients.d_bias = device_d_bias.data<float>();
  gradients.d_columns = static_cast<char*>(d_columns.data()) + kBefore * bytes_of(c.storage);
  gradients.filler = c.filler;
  gradients.constant_parts = parts.data<float>();
  key_decay_backward(args, gradients, nullptr);

  expect_close(bias.host().narrow(0, 0, tokens), expected.detach(), tolerance_of(Storage::float32), "bias");
  const at::Tensor got = d_columns.host();
  expect_close(got.narrow(1, kBefore, c.heads).narrow(0, 0, tokens), x.grad(), tolerance_of(c.storage), "d_columns");
  expect_close(parts.host().sum(0), shift.grad(), tolerance_of(c.storage), "d_constant");
  EXPECT_TRUE((got.narrow(1, 0, kBefore) == 9).all().item<bool>()) << "columns in front were touched";
  expect_zero_rows(got.narrow(1, kBefore, c.heads + c.filler).contiguous(), tokens, "rows behind the last sequence");
  EXPECT_TRUE((got.narrow(1, kBefore + c.heads, c.filler) == 0).all().item<bool>()) << "filler";
}

INSTANTIATE_TEST_SUITE_P(Cases, GpuKeyDecay,
                         testing::Values(Case{{1, 30, 0, 17, 32, 64}}, Case{{100, 33}, Storage::float32, 12, 4},
                                         Case{{5, 70}, Storage::float32, 3, 5, -1},
                                         Case{{200}, Storage::bfloat16, 8, 0, -1}));

}  // namespace
}  // namespace lengthwise::gpu
