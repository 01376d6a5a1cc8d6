// Attention on the GPU against the CPU's in double: ragged batches, all ways, both storages.
#include "gpu_kernels/attention.h"

#include "core/rng.h"
#include "gpu_kernels/sums.h"
#include "kernels/attention.h"
#include "kernels/plain_attention.h"
#include "tests/gpu_kernels/attention_cases.h"
#include "tests/gpu_kernels/device_tensor.h"

namespace lengthwise::gpu {
namespace {

constexpr uint64_t kStepSeed = 0x1234567890abcdefull;
constexpr int64_t kPadding = 5;  ///< rows behind the last sequence
constexpr double kScale = 0.2;

struct Expected {
  at::Tensor out, log_sum, d_qkv, d_table, d_query_scale, d_key_bias, d_dense;
};

at::Tensor in_double(const at::Tensor& x) {
  return x.defined() ? x.to(at::kDouble) : x;
}

struct Problem {
  explicit Problem(const AttentionCase& c) {
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
    if (c.key_turn) {
      const at::Tensor angles = at::rand({tokens, c.pairs}) * 6;
      in.key_cos = angles.cos() * 1.25;
      in.key_sin = angles.sin() * 1.25;
    }
    if (c.table) in.table = at::randn({c.heads, longest + 3});
    if (c.query_scale) in.query_scale = at::randn({tokens, c.heads});
    if (c.key_bias) key_bias = at::randn({tokens, c.heads});
    const int64_t sequences = std::ssize(c.lengths);
    const int64_t places = (longest + 3) / 2 * 2;
    if (c.dense > 0) in.dense = at::randn({c.dense == 2 ? sequences : 1, c.heads, places, places});
    in.window = c.window;
    in.dropout = {c.dropout, mix64(kStepSeed + 64 * 3 + 1 + 1)};
    d_out = at::randn({tokens, c.heads * c.dim}).to(type_of(c.storage));
  }

  Expected expected() const {
    AttentionInputs exact = in;
    for (at::Tensor* tensor : {&exact.qkv, &exact.cos, &exact.sin, &exact.table, &exact.key_cos, &exact.key_sin,
                               &exact.query_scale, &exact.dense})
      *tensor = in_double(*tensor);
    if (key_bias.defined()) return expected_plain(exact);
    Expected e;
    e.out = at::empty(d_out.sizes(), at::kDouble);
    e.log_sum = at::empty({tokens, in.heads}, at::kDouble);
    lengthwise::attention_forward(exact, e.out, e.log_sum);
    e.d_qkv = at::empty_like(exact.qkv);
    if (exact.table.defined()) e.d_table = at::zeros_like(exact.table);
    if (exact.query_scale.defined()) e.d_query_scale = at::empty_like(exact.query_scale);
    if (exact.dense.defined()) e.d_dense = at::zeros_like(exact.dense);
    lengthwise::AttentionGradients to{e.d_qkv, e.d_query_scale, {}, e.d_table, e.d_dense};
    lengthwise::attention_backward(exact, e.log_sum, d_out.to(at::kDouble), to);
    return e;
  }

  /// By the plain twin and autograd, one sequence after the other.
  Expected expected_plain(AttentionInputs exact) const {
    const int64_t dim = exact.qkv.size(1) / 3 / in.heads;
    at::Tensor bias = in_double(key_bias);
    for (at::Tensor* tensor : {&exact.qkv, &exact.table, &exact.query_scale, &bias})
      if (tensor->defined()) tensor->requires_grad_(true);
    std::vector<at::Tensor> outs, log_sums;
    for (int64_t s = 0; s + 1 < in.offsets.size(0); ++s) {
      const auto first = in.offsets[s].item<int64_t>();
      const int64_t length = in.offsets[s + 1].item<int64_t>() - first;
      if (length == 0) continue;
      const auto own = [&](const at::Tensor& x) { return x.defined() ? x.narrow(0, first, length) : x; };
      const at::Tensor qkv = own(exact.qkv).view({length, 3, in.heads, dim}).permute({1, 2, 0, 3});
      const auto turned = [&](int64_t part, const at::Tensor& cos, const at::Tensor& sin) {
        return cos.defined() ? plain_rotate(qkv[part], own(cos), own(sin)) : qkv[part];
      };
      at::Tensor q = turned(0, exact.cos, exact.sin);
      if (exact.query_scale.defined()) q = q * own(exact.query_scale).t().unsqueeze(-1);
      const bool turns = exact.key_cos.defined();
      const at::Tensor k = turned(1, turns ? exact.key_cos : exact.cos, turns ? exact.key_sin : exact.sin);
      const at::Tensor places = at::arange(length, at::kLong).unsqueeze(0);
      const at::Tensor allowed = at::ones({1, 1, length, length}, at::kBool).tril();
      ScoreTerms terms;
      terms.table = exact.table;
      terms.key_bias = own(bias).t().unsqueeze(0);
      terms.window = in.window;
      const AttentionView view = plain_attention(
          {q.unsqueeze(0), k.unsqueeze(0), qkv[2].unsqueeze(0), places, places, allowed}, terms, in.scale, {});
      outs.push_back(view.out[0].transpose(0, 1).reshape({length, -1}));
      log_sums.push_back(view.scores[0].logsumexp(-1).t());
    }
    Expected e;
    e.out = at::cat(outs);
    e.log_sum = at::cat(log_sums).detach();
    (e.out * d_out.to(at::kDouble)).sum().backward();
    e.out = e.out.detach();
    e.d_qkv = exact.qkv.grad();
    if (exact.table.defined()) e.d_table = exact.table.grad();
    if (exact.query_scale.defined()) e.d_query_scale = exact.query_scale.grad();
    e.d_key_bias = bias.grad();
    return e;
  }

  AttentionInputs in;
  at::Tensor d_out, key_bias;
  int64_t tokens = 0, longest = 0;
};

at::Tensor padded(const at::Tensor& x) {
  return at::constant_pad_nd(x, {0, 0, 0, kPadding}, 3.0);
}

/// Everything the GPU gives for a case.
Expected run(const AttentionCase& c, const Problem& problem) {
  const AttentionInputs& in = problem.in;
  const int64_t capacity = problem.tokens + kPadding;
  const DeviceTensor qkv(at::constant_pad_nd(padded(in.qkv), {0, c.columns}, 7.0));
  const DeviceTensor offsets(in.offsets.to(at::kInt));
  const DeviceTensor cos(in.cos.defined() ? padded(in.cos) : at::zeros({1}));
  const DeviceTensor sin(in.sin.defined() ? padded(in.sin) : at::zeros({1}));
  const DeviceTensor table(in.table.defined() ? in.table : at::zeros({1}));
  const auto padded_or_none = [](const at::Tensor& x) { return x.defined() ? padded(x) : at::zeros({1}); };
  const DeviceTensor key_cos(padded_or_none(in.key_cos)), key_sin(padded_or_none(in.key_sin));
  const DeviceTensor query_scale(padded_or_none(in.query_scale)), key_bias(padded_or_none(problem.key_bias));
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
  if (c.columns > 0) args.qkv_stride = 3 * c.heads * c.dim + c.columns;
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
  if (c.key_turn) {
    args.key_cos = key_cos.data<float>();
    args.key_sin = key_sin.data<float>();
  }
  if (c.query_scale) args.query_scale = query_scale.data<float>();
  if (c.key_bias) args.key_bias = key_bias.data<float>();
  const DeviceTensor dense(in.dense.defined() ? in.dense : at::zeros({1}));
  if (c.dense > 0) {
    args.dense = dense.data<float>();
    args.dense_places = in.dense.size(3);
    args.dense_shared = c.dense != 2;
  }
  args.window = c.window;
  if (c.dropout > 0) args.dropout = DropoutArgs(c.dropout, seed.data(), 1, 3);
  const int64_t map_size = c.dense == 3 ? attention_dense_map_size(args) : 0;
  EXPECT_EQ(map_size > 0, c.dense == 3);
  const DeviceTensor map({std::max<int64_t>(1, map_size)}, at::kByte);
  if (c.dense == 3) {
    attention_dense_map(args, map.data(), nullptr);
    args.dense_map = map.data();
  }
  const DeviceTensor plan({std::max<int64_t>(1, attention_plan_size(args))}, at::kInt);
  attention_plan(args, plan.data<int32_t>(), nullptr);
  args.plan = plan.data<int32_t>();

  const DeviceTensor out({capacity, c.heads * c.dim}, type_of(c.storage));
  const DeviceTensor log_sum({capacity, c.heads}, at::kFloat);
  attention_forward(args, out.data(), log_sum.data<float>(), nullptr);

  const DeviceTensor d_qkv({capacity, 3 * c.heads * c.dim + c.columns}, type_of(c.storage));
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
  if (c.table && !c.fixed) gradients.table_parts = table_parts.data<float>();
  const DeviceTensor d_query_scale({capacity, c.heads}, at::kFloat), d_key_bias({capacity, c.heads}, at::kFloat);
  if (c.query_scale) gradients.d_query_scale = d_query_scale.data<float>();
  if (c.key_bias) gradients.d_key_bias = d_key_bias.data<float>();
  const int64_t places = args.dense_places;
  const DeviceTensor d_dense(at::ones({attention_dense_parts(args), c.heads, places, places}));
  if (c.dense > 0) gradients.d_dense = d_dense.data<float>();
  const int64_t room = attention_score_gradients_size(args);
  const DeviceTensor score_gradients({std::max<int64_t>(1, room)}, at::kByte);
  if (room > 0) gradients.score_gradients = score_gradients.data();
  attention_backward(args, gradients, nullptr);
  const bool learns = c.table && !c.fixed;
  if (learns) {
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
  at::Tensor added;  // to ones
  if (c.dense > 0) added = d_dense.host() - 1;
  if (args.dense_shared) added = added.sum(0, /*keepdim=*/true);
  return {out.host(),
          log_sum.host(),
          d_qkv.host().narrow(1, 0, 3 * c.heads * c.dim).contiguous(),
          learns ? d_table.host() : at::Tensor(),
          c.query_scale ? d_query_scale.host() : at::Tensor(),
          c.key_bias ? d_key_bias.host() : at::Tensor(),
          added};
}

class GpuAttention : public testing::TestWithParam<AttentionCase> {};

TEST_P(GpuAttention, AgreesWithTheCpu) {
  if (!device_present()) GTEST_SKIP() << "no GPU is present";
  const AttentionCase& c = GetParam();
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
  if (got.d_table.defined()) expect_close(got.d_table, expected.d_table, tolerance, "d_table");
  if (c.query_scale) expect_close(real(got.d_query_scale), expected.d_query_scale, tolerance, "d_query_scale");
  if (c.key_bias) expect_close(real(got.d_key_bias), expected.d_key_bias, tolerance, "d_key_bias");
  if (c.dense > 0) expect_close(got.d_dense, expected.d_dense, tolerance, "d_dense");
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
  if (first.d_table.defined()) expect_equal(first.d_table, second.d_table, "d_table");
  if (first.d_dense.defined()) expect_equal(first.d_dense, second.d_dense, "d_dense");
}

INSTANTIATE_TEST_SUITE_P(Cases, GpuAttention, testing::ValuesIn(attention_cases()));

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
