// Attention on the GPU against the CPU's in double: ragged batches, all ways, both storages.
#include "gpu_kernels/attention.h"

#include "core/rng.h"
#include "gpu_kernels/sums.h"
#include "kernels/attention.h"
#include "tests/gpu_kernels/device_tensor.h"

namespace lengthwise::gpu {
namespace {

struct Case {
  std::vector<int64_t> lengths;
  Storage storage = Storage::bfloat16;
  int64_t heads = 2;
  int64_t dim = 64;
  int64_t pairs = 0;
  bool table = false;
  double dropout = 0;
  int64_t longest = 0;  ///< what the launch is made for; 0: the longest there is
};

std::ostream& operator<<(std::ostream& to, const Case& c) {
  to << (c.storage == Storage::float32 ? "float" : "bf16") << " dim " << c.dim << " pairs " << c.pairs << " table "
     << c.table << " dropout " << c.dropout << " lengths";
  for (const int64_t length : c.lengths) to << ' ' << length;
  return to;
}

constexpr uint64_t kStepSeed = 0x1234567890abcdefull;
constexpr int64_t kPadding = 5;  ///< rows behind the last sequence
constexpr double kScale = 0.2;

struct Expected {
  at::Tensor out, log_sum, d_qkv, d_table;
};

struct Problem {
  explicit Problem(const Case& c) {
    at::manual_seed(11);
    std::vector<int64_t> offsets{0};
    for (const int64_t length : c.lengths) {
      offsets.push_back(offsets.back() + length);
      longest = std::max(longest, length);
    }
    if (c.longest > 0) longest = c.longest;
    tokens = offsets.back();
    in.offsets = at::tensor(offsets, at::kLong);
    in.qkv = at::randn({tokens, 3 * c.heads * c.dim}).to(type_of(c.storage));
    in.heads = c.heads;
    in.scale = kScale;
    if (c.pairs > 0) {
      const at::Tensor angles = at::rand({tokens, c.pairs}) * 6;
      in.cos = angles.cos();
      in.sin = angles.sin();
    }
    if (c.table) in.table = at::randn({c.heads, longest + 3});
    in.dropout = {c.dropout, mix64(kStepSeed + 64 * 3 + 1 + 1)};
    d_out = at::randn({tokens, c.heads * c.dim}).to(type_of(c.storage));
  }

  Expected expected() const {
    AttentionInputs exact = in;
    const auto widen = [](at::Tensor& x) {
      if (x.defined()) x = x.to(at::kDouble);
    };
    widen(exact.qkv);
    widen(exact.cos);
    widen(exact.sin);
    widen(exact.table);
    Expected e;
    e.out = at::empty(d_out.sizes(), at::kDouble);
    e.log_sum = at::empty({tokens, in.heads}, at::kDouble);
    lengthwise::attention_forward(exact, e.out, e.log_sum);
    e.d_qkv = at::empty_like(exact.qkv);
    if (exact.table.defined()) e.d_table = at::zeros_like(exact.table);
    lengthwise::attention_backward(exact, e.log_sum, d_out.to(at::kDouble), e.d_qkv, e.d_table);
    return e;
  }

  AttentionInputs in;
  at::Tensor d_out;
  int64_t tokens = 0, longest = 0;
};

at::Tensor padded(const at::Tensor& x) {
  return at::constant_pad_nd(x, {0, 0, 0, kPadding}, 3.0);
}

/// Everything the GPU gives for a case.
Expected run(const Case& c, const Problem& problem) {
  const AttentionInputs& in = problem.in;
  const int64_t capacity = problem.tokens + kPadding;
  const DeviceTensor qkv(padded(in.qkv));
  const DeviceTensor offsets(in.offsets.to(at::kInt));
  const DeviceTensor cos(in.cos.defined() ? padded(in.cos) : at::zeros({1}));
  const DeviceTensor sin(in.sin.defined() ? padded(in.sin) : at::zeros({1}));
  const DeviceTensor table(in.table.defined() ? in.table : at::zeros({1}));
  const DeviceTensor d_out(padded(problem.d_out));
  const DeviceValue<uint64_t> seed(kStepSeed);
  Attention args;
  args.storage = c.storage;
  args.token_capacity = capacity;
  args.sequences = static_cast<int64_t>(c.lengths.size());
  args.heads = c.heads;
  args.dim = c.dim;
  args.longest = problem.longest;
  args.qkv = qkv.data();
  args.offsets = offsets.data<int32_t>();
  args.scale = static_cast<float>(kScale);
  if (c.pairs > 0) {
    args.cos = cos.data<float>();
    args.sin = sin.data<float>();
    args.pairs = c.pairs;
  }
  if (c.table) {
    args.table = table.data<float>();
    args.distances = in.table.size(1);
  }
  if (c.dropout > 0) args.dropout = DropoutArgs(c.dropout, seed.data(), 1, 3);
  const DeviceTensor plan({std::max<int64_t>(1, attention_plan_size(args))}, at::kInt);
  attention_plan(args, plan.data<int32_t>(), nullptr);
  args.plan = plan.data<int32_t>();

  const DeviceTensor out({capacity, c.heads * c.dim}, type_of(c.storage));
  const DeviceTensor log_sum({capacity, c.heads}, at::kFloat);
  attention_forward(args, out.data(), log_sum.data<float>(), nullptr);

  const DeviceTensor d_qkv({capacity, 3 * c.heads * c.dim}, type_of(c.storage));
  const DeviceTensor delta({capacity, c.heads}, at::kFloat);
  const int64_t parts = attention_table_parts(args);
  EXPECT_LE(parts, most_attention_table_parts(args.sequences, c.heads));
  const DeviceTensor table_parts({parts, c.heads, problem.longest}, at::kFloat);
  const DeviceTensor d_table(at::zeros_like(in.table.defined() ? in.table : at::zeros({1})));
  AttentionGradients gradients;
  gradients.out = out.data();
  gradients.log_sum = log_sum.data<float>();
  gradients.d_out = d_out.data();
  gradients.d_qkv = d_qkv.data();
  gradients.delta = delta.data<float>();
  if (c.table) gradients.table_parts = table_parts.data<float>();
  attention_backward(args, gradients, nullptr);
  if (c.table) {
    SumParts sum;
    sum.values = table_parts.data<float>();
    sum.groups = c.heads;
    sum.parts = parts;
    sum.columns = problem.longest;
    sum.group_stride = problem.longest;
    sum.part_stride = c.heads * problem.longest;
    sum.out = d_table.data<float>();
    sum.out_stride = in.table.size(1);
    sum_parts(sum, nullptr);
  }
  return {out.host(), log_sum.host(), d_qkv.host(), c.table ? d_table.host() : at::Tensor()};
}

class GpuAttention : public testing::TestWithParam<Case> {};

TEST_P(GpuAttention, AgreesWithTheCpu) {
  if (!device_present()) GTEST_SKIP() << "no GPU is present";
  const Case& c = GetParam();
  const Problem problem(c);
  const Expected expected = problem.expected();
  const Expected got = run(c, problem);
  const double tolerance = tolerance_of(c.storage);
  const auto real = [&](const at::Tensor& x) { return x.narrow(0, 0, problem.tokens); };
  expect_close(real(got.out), expected.out, tolerance, "out");
  expect_close(real(got.log_sum), expected.log_sum, tolerance, "log_sum");
  for (const int64_t part : {0, 1, 2}) {
    const int64_t width = c.heads * c.dim;
    expect_close(real(got.d_qkv).narrow(1, part * width, width), expected.d_qkv.narrow(1, part * width, width),
                 tolerance,
                 part == 0   ? "d_q"
                 : part == 1 ? "d_k"
                             : "d_v");
  }
  if (c.table) expect_close(got.d_table, expected.d_table, tolerance, "d_table");
  expect_zero_rows(got.out, problem.tokens, "out behind the last sequence");
  expect_zero_rows(got.d_qkv, problem.tokens, "d_qkv behind the last sequence");
}

TEST_P(GpuAttention, GivesTheSameBitsTwice) {
  if (!device_present()) GTEST_SKIP() << "no GPU is present";
  const Problem problem(GetParam());
  const Expected first = run(GetParam(), problem);
  const Expected second = run(GetParam(), problem);
  expect_equal(first.out, second.out, "out");
  expect_equal(first.d_qkv, second.d_qkv, "d_qkv");
  if (GetParam().table) expect_equal(first.d_table, second.d_table, "d_table");
}

std::vector<Case> cases() {
  constexpr Storage kFloat = Storage::float32;
  constexpr Storage kBf16 = Storage::bfloat16;
  std::vector<Case> all{
      // Whole sequences in a block.
      {{1, 30, 17, 32, 16}, kBf16},
      {{5, 31, 0, 2}, kBf16, 3, 64, 8, true, 0.1},
      {{33, 64, 1, 48}, kBf16, 2, 64, 0, true, 0.1},
      {{64, 50}, kBf16, 1, 128, 5, true, 0.3},
      {{9, 20}, kBf16, 2, 16, 3, true, 0.1},
      {{40, 3}, kBf16, 2, 32, 16, false, 0.1},
      {{12, 29}, kBf16, 2, 24, 2, true, 0.1, 32},
      // Tiles.
      {{65, 1, 130}, kBf16, 2, 64, 8, true, 0.1},
      {{100, 64, 3}, kBf16, 1, 32, 0, false, 0, 128},
      {{129}, kBf16, 1, 16, 0, true, 0.2},
      {{70}, kBf16, 1, 128, 64, true, 0.1},
      {{80, 0, 20}, kBf16, 2, 40, 0, true, 0.1, 100},
      // Float.
      {{1, 30, 17, 40}, kFloat, 2, 64, 8, true, 0.1},
      {{70, 33}, kFloat, 2, 16, 3, false, 0},
      {{20, 65}, kFloat, 1, 32, 0, true, 0.1},
      {{34}, kFloat, 1, 128, 64, true, 0},
      {{11, 45}, kFloat, 2, 24, 5, true, 0.1},
  };
#ifdef LENGTHWISE_CUDA
  const std::vector<int64_t> mixed{2048, 1, 77, 512, 300, 1000};
  for (const int64_t dim : {16, 32, 64, 128}) all.push_back({mixed, kBf16, 2, dim, dim / 4, true, 0.1});
  all.push_back({mixed, kBf16, 2, 64, 0, false, 0.1});
  all.push_back({mixed, kFloat, 1, 64, 8, true, 0.1});
  all.push_back({{8192, 700}, kBf16, 1, 64, 0, true, 0.1});
  for (const Storage storage : {kBf16, kFloat}) {
    all.push_back({std::vector<int64_t>(64, 30), storage, 12, 64, 8, true, 0.1});
    all.push_back({std::vector<int64_t>(200, 61), storage, 4, 32, 0, true, 0.1});
  }
#endif
  return all;
}

INSTANTIATE_TEST_SUITE_P(Cases, GpuAttention, testing::ValuesIn(cases()));

class GpuAttentionLimits : public GpuTest {};

TEST_F(GpuAttentionLimits, RefusesWhatItCannotRun) {
  Attention args;
  args.token_capacity = 10;
  args.sequences = 1;
  args.longest = 10;
  args.dim = 12;
  EXPECT_THROW(attention_forward(args, nullptr, nullptr, nullptr), std::logic_error);
  args.dim = 136;
  EXPECT_THROW(attention_forward(args, nullptr, nullptr, nullptr), std::logic_error);
  args.dim = 64;
  args.longest = 100;
  EXPECT_THROW(attention_forward(args, nullptr, nullptr, nullptr), std::logic_error) << "no plan was given";
}

}  // namespace
}  // namespace lengthwise::gpu
