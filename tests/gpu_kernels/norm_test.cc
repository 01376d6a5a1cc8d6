// Norms on the GPU against the CPU's in double.
#include "gpu_kernels/norm.h"

#include "gpu_kernels/sums.h"
#include "kernels/elementwise.h"
#include "tests/gpu_kernels/device_tensor.h"
#include "tests/gpu_kernels/step_dropout.h"

namespace lengthwise::gpu {
namespace {

struct NormCase {
  Storage storage;
  int64_t width;
  int64_t rows;
  double dropout = 0.1;
  bool end = false;          ///< the model's end: dropout and a scale behind the norm
  bool small_gains = false;  ///< every third gain is 0 or close to it, and some are negative
};

class GpuNorm : public testing::TestWithParam<NormCase> {};

TEST_P(GpuNorm, AgreesWithTheCpu) {
  if (!device_present()) GTEST_SKIP() << "no GPU is present";
  const NormCase& c = GetParam();
  at::manual_seed(3);
  constexpr int64_t kPadding = 3;
  const int64_t capacity = c.rows + kPadding;
  const at::Tensor x = at::randn({capacity, c.width});
  const at::Tensor branch = at::randn({capacity, c.width}).to(type_of(c.storage));
  at::Tensor gain = at::rand({c.width}) + 0.5;
  const at::Tensor small = at::arange(0, c.width, 3, at::kLong);
  if (c.small_gains) {
    gain.narrow(0, c.width / 2, c.width / 4).mul_(-1);
    gain.index_copy_(
        0, small,
        at::tensor({0.0f, 1e-30f, -1e-25f, -0.0f}).repeat({small.size(0) / 4 + 1}).narrow(0, 0, small.size(0)));
  }
  const at::Tensor d_normed = at::randn({capacity, c.width}).to(type_of(c.storage));
  const at::Tensor d_sum = at::randn({capacity, c.width});
  const double end_scale = c.end ? 0.25 : 1;
  const Dropout dropout = on_the_cpu(c.dropout, 4, 2);
  const Dropout end_dropout = on_the_cpu(c.end ? c.dropout : 0, 5, 0);

  const auto real = [&](const at::Tensor& t) { return t.narrow(0, 0, c.rows).to(at::kDouble); };
  at::Tensor sum_expected = at::empty({c.rows, c.width}, at::kDouble);
  at::Tensor inverse_expected = at::empty({c.rows}, at::kDouble);
  at::Tensor normed_expected = at::empty_like(sum_expected);
  lengthwise::add_norm_forward(real(x), real(branch), dropout, gain.to(at::kDouble), sum_expected, inverse_expected,
                               normed_expected);
  const at::Tensor plain_normed = normed_expected.clone();
  dropout_forward(normed_expected, end_dropout, normed_expected);
  normed_expected.mul_(end_scale);
  at::Tensor d_normed_expected = real(d_normed).clone();
  d_normed_expected.mul_(end_scale);
  dropout_forward(d_normed_expected, end_dropout, d_normed_expected);
  at::Tensor d_sum_expected = real(d_sum).clone();
  at::Tensor d_branch_expected = at::empty_like(sum_expected);
  at::Tensor d_gain_expected = at::zeros({c.width}, at::kDouble);
  lengthwise::add_norm_backward(d_normed_expected, sum_expected, inverse_expected, gain.to(at::kDouble), dropout,
                                d_sum_expected, d_branch_expected, d_gain_expected);

  const DeviceValue<uint64_t> seed(kStepSeed);
  const DeviceValue<int32_t> rows(static_cast<int32_t>(c.rows));
  const DeviceTensor x_in(x), branch_in(branch), gain_in(gain), d_normed_in(d_normed);
  const DeviceTensor sum({capacity, c.width}, at::kFloat), inverse({capacity}, at::kFloat);
  const DeviceTensor normed({capacity, c.width}, type_of(c.storage));
  AddNormForward forward;
  forward.storage = c.storage;
  forward.capacity = capacity;
  forward.width = c.width;
  forward.rows = rows.data();
  forward.x = x_in.data<float>();
  forward.branch = branch_in.data();
  if (c.dropout > 0) forward.dropout = DropoutArgs(c.dropout, seed.data(), 4, 2);
  forward.gain = gain_in.data<float>();
  forward.sum = sum.data<float>();
  forward.inverse = inverse.data<float>();
  forward.normed = normed.data();
  if (c.end) forward.normed_dropout = DropoutArgs(c.dropout, seed.data(), 5, 0);
  forward.normed_scale = static_cast<float>(end_scale);
  add_norm_forward(forward, nullptr);
  const double tolerance = tolerance_of(c.storage);
  expect_close(sum.host().narrow(0, 0, c.rows), sum_expected, 1e-6, "sum");
  expect_close(normed.host().narrow(0, 0, c.rows), normed_expected, tolerance, "normed");
  expect_close(inverse.host().narrow(0, 0, c.rows), inverse_expected, 1e-5, "inverse");
  expect_zero_rows(sum.host(), c.rows, "sum");
  expect_zero_rows(normed.host(), c.rows, "normed");

  // Twice what the norm saw is read from the sum, then, where that tells it, from the norm's result, then from both.
  at::Tensor before, d_sum_before;
  for (int turn = 0; turn < (c.end ? 2 : 4); ++turn) {
    if (turn == 2 && c.small_gains) continue;
    const bool from_normed = turn >= 2;
    const DeviceTensor d_sum_in(d_sum);
    const DeviceTensor d_branch({capacity, c.width}, type_of(c.storage));
    const int64_t parts = add_norm_parts(capacity);
    const DeviceTensor gain_parts({parts, c.width}, at::kFloat);
    const DeviceTensor d_gain(at::ones({c.width}));
    AddNormBackward backward;
    backward.storage = c.storage;
    backward.capacity = capacity;
    backward.width = c.width;
    backward.rows = rows.data();
    backward.d_normed = d_normed_in.data();
    if (from_normed) backward.normed = normed.data();
    if (turn != 2) backward.sum = sum.data<float>();
    backward.inverse = inverse.data<float>();
    backward.gain = gain_in.data<float>();
    backward.dropout = forward.dropout;
    backward.d_sum = d_sum_in.data<float>();
    backward.d_branch = d_branch.data();
    backward.gain_parts = gain_parts.data<float>();
    backward.normed_dropout = forward.normed_dropout;
    backward.normed_scale = forward.normed_scale;
    add_norm_backward(backward, nullptr);
    const DeviceTensor outs(at::tensor(reinterpret_cast<int64_t>(d_gain.data()), at::kLong));
    SumParts sum_up;
    sum_up.values = gain_parts.data<float>();
    sum_up.groups = 1;
    sum_up.parts = parts;
    sum_up.columns = c.width;
    sum_up.part_stride = c.width;
    sum_up.outs = outs.data<float*>();
    sum_parts(sum_up, nullptr);
    const double rounded = from_normed ? tolerance : 0;
    expect_close(d_sum_in.host().narrow(0, 0, c.rows), d_sum_expected, std::max(rounded, 1e-5), "d_sum");
    expect_close(d_branch.host().narrow(0, 0, c.rows), d_branch_expected, tolerance, "d_branch");
    expect_close(d_gain.host() - 1, d_gain_expected, std::max(rounded, 1e-4), "d_gain");
    expect_zero_rows(d_sum_in.host(), c.rows, "d_sum");
    expect_zero_rows(d_branch.host(), c.rows, "d_branch");
    if (turn == 1 || (turn == 3 && !c.small_gains)) {
      expect_equal(d_gain.host(), before, "d_gain");
      expect_equal(d_sum_in.host(), d_sum_before, "d_sum");
    }
    before = d_gain.host();
    d_sum_before = d_sum_in.host();
    if (!c.small_gains) continue;
    const auto added = [&](const at::Tensor& sum_of) {
      return (sum_of.narrow(0, 0, c.rows).to(at::kDouble) - real(d_sum)).index_select(1, small);
    };
    expect_close(added(d_sum_in.host()), added(d_sum_expected), tolerance, "what a column of small gain passes back");
    expect_close(before.index_select(0, small) - 1, d_gain_expected.index_select(0, small), tolerance, "its gain");
  }
}

std::vector<NormCase> norm_cases() {
  std::vector<NormCase> all{{Storage::bfloat16, 768, 19}, {Storage::float32, 128, 9, 0},
                            {Storage::bfloat16, 132, 5},  {Storage::float32, 768, 11, 0.1, true},
                            {Storage::bfloat16, 1280, 4}, {Storage::float32, 36, 30}};
  for (const Storage storage : {Storage::bfloat16, Storage::float32}) {
    for (const int64_t width : {768, 1280}) all.push_back({storage, width, 11, 0.1, false, /*small_gains=*/true});
  }
#ifdef LENGTHWISE_CUDA
  for (const Storage storage : {Storage::bfloat16, Storage::float32}) {
    for (const int64_t width : {128, 256, 512, 768, 1024, 2048, 4096, 8192}) all.push_back({storage, width, 2501});
  }
#endif
  return all;
}
INSTANTIATE_TEST_SUITE_P(Cases, GpuNorm, testing::ValuesIn(norm_cases()));

}  // namespace
}  // namespace lengthwise::gpu
