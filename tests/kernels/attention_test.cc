// The fused attention against its plain twin, in value and in gradient.
#include "kernels/attention.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/rng.h"
#include "kernels/attention_tile.h"
#include "kernels/plain_attention.h"

namespace lengthwise {
namespace {

struct Case {
  std::vector<int64_t> lengths;
  int64_t heads = 2;
  int64_t dim = 8;
  int64_t pairs = 0;
  bool table = false;
  double dropout = 0;
  double scale = 1;
  bool key_turn = false;  ///< keys are rotated in their own way, with a factor
  bool query_scale = false;
  int64_t window = 0;
  bool key_bias = false;
  int64_t dense = 0;  ///< biases of pairs: 1 for all sequences, 2 for each its own
  int64_t apart = 0;  ///< by how much the rows of qkv are farther apart than they are long
};

std::ostream& operator<<(std::ostream& to, const Case& c) {
  to << c.lengths.size() << "_sequences_" << c.heads << "x" << c.dim;
  if (c.pairs > 0) to << "_rotated_" << c.pairs;
  if (c.table) to << "_table";
  if (c.dropout > 0) to << "_dropout";
  if (c.key_turn) to << "_keys";
  if (c.query_scale) to << "_factors";
  if (c.window > 0) to << "_window_" << c.window;
  if (c.key_bias) to << "_biases";
  if (c.dense > 0) to << "_dense_" << c.dense;
  if (c.apart > 0) to << "_apart_" << c.apart;
  for (const int64_t length : c.lengths) to << "_" << length;
  return to;
}

at::Tensor offsets_of(const std::vector<int64_t>& lengths) {
  std::vector<int64_t> offsets{0};
  for (const int64_t length : lengths) offsets.push_back(offsets.back() + length);
  return at::tensor(offsets, at::kLong);
}

/// The definition, one sequence at a time.
at::Tensor plain(const AttentionInputs& in) {
  const auto* offsets = in.offsets.const_data_ptr<int64_t>();
  const int64_t dim = in.qkv.size(1) / (3 * in.heads);
  const at::Tensor mask = in.dropout.active() ? dropout_mask(in.dropout, in.qkv.size(0) * in.heads, in.qkv.size(0),
                                                             in.qkv.options().requires_grad(false))
                                              : at::Tensor();
  std::vector<at::Tensor> outs;
  for (int64_t s = 0; s + 1 < in.offsets.size(0); ++s) {
    const int64_t begin = offsets[s];
    const int64_t length = offsets[s + 1] - begin;
    const at::Tensor parts = in.qkv.narrow(0, begin, length).reshape({length, 3, in.heads, dim});
    const auto part = [&](int64_t index) {
      at::Tensor x = parts.select(1, index).transpose(0, 1);
      const bool own = index == 1 && in.key_cos.defined();
      const at::Tensor& cos = own ? in.key_cos : in.cos;
      const at::Tensor& sin = own ? in.key_sin : in.sin;
      if (index < 2 && cos.defined()) x = plain_rotate(x, cos.narrow(0, begin, length), sin.narrow(0, begin, length));
      if (index == 0 && in.query_scale.defined()) {
        x = x * in.query_scale.narrow(0, begin, length).t().unsqueeze(-1);
      }
      return x.unsqueeze(0);
    };
    const at::Tensor positions = at::arange(length, at::kLong).unsqueeze(0);
    const at::Tensor allowed = at::ones({length, length}, at::kBool).tril().view({1, 1, length, length});
    ScoreTerms terms;
    terms.table = in.table;
    terms.window = in.window;
    if (in.dense.defined()) {
      const at::Tensor own = in.dense.narrow(0, in.dense.size(0) == 1 ? 0 : s, 1);
      terms.dense = own.narrow(2, 0, length).narrow(3, 0, length);
    }
    if (in.key_bias.defined()) terms.key_bias = in.key_bias.narrow(0, begin, length).t().unsqueeze(0);
    at::Tensor weights_mask;
    if (mask.defined()) {
      weights_mask = mask.view({in.qkv.size(0), in.heads, -1})
                         .narrow(0, begin, length)
                         .narrow(2, 0, length)
                         .transpose(0, 1)
                         .unsqueeze(0);
    }
    const AttentionView view =
        plain_attention({part(0), part(1), part(2), positions, positions, allowed}, terms, in.scale, weights_mask);
    outs.push_back(view.out.squeeze(0).transpose(0, 1).reshape({length, in.heads * dim}));
  }
  return at::cat(outs);
}

AttentionInputs make_inputs(const Case& c, at::ScalarType type) {
  at::manual_seed(7);
  AttentionInputs in;
  in.offsets = offsets_of(c.lengths);
  const int64_t tokens = in.offsets[-1].item<int64_t>();
  const int64_t longest = *std::max_element(c.lengths.begin(), c.lengths.end());
  in.qkv = at::randn({tokens, 3 * c.heads * c.dim + c.apart}, type).narrow(1, 0, 3 * c.heads * c.dim);
  in.heads = c.heads;
  in.scale = c.scale;
  if (c.pairs > 0) {
    const at::Tensor angles = at::rand({tokens, c.pairs}, type) * 6;
    in.cos = at::cos(angles);
    in.sin = at::sin(angles);
  }
  if (c.key_turn) {
    const at::Tensor angles = at::rand({tokens, c.pairs}, type) * 6;
    in.key_cos = at::cos(angles) * 1.3;
    in.key_sin = at::sin(angles) * 1.3;
  }
  if (c.query_scale) {
    in.query_scale = at::randn({tokens, c.heads}, type);
    in.query_scale[0][0] = 0;
  }
  if (c.key_bias) in.key_bias = at::randn({tokens, c.heads}, type) * 2;
  in.window = c.window;
  if (c.dense > 0) {
    const int64_t sequences = c.dense == 1 ? 1 : std::ssize(c.lengths);
    in.dense = at::randn({sequences, c.heads, longest + 2, longest + 2}, type);
  }
  if (c.table) in.table = at::randn({c.heads, longest + 3}, type);
  in.dropout = {c.dropout, 99};
  return in;
}

/// Not a number everywhere, in rows as far apart as those of qkv.
at::Tensor poisoned_like(const at::Tensor& qkv) {
  return at::full({qkv.size(0), qkv.stride(0)}, NAN, qkv.options()).narrow(1, 0, qkv.size(1));
}

/// Of everything that the inputs have: poison where it is written whole, zeros where it is added to.
AttentionGradients gradients_for(const AttentionInputs& in) {
  const auto filled = [](const at::Tensor& x, double value) {
    return x.defined() ? at::full_like(x, value) : at::Tensor();
  };
  return {poisoned_like(in.qkv), filled(in.query_scale, NAN), filled(in.key_bias, NAN), filled(in.table, 0),
          filled(in.dense, 0)};
}

void expect_near(const at::Tensor& a, const at::Tensor& b, double tolerance, const char* what) {
  ASSERT_EQ(a.sizes(), b.sizes()) << what;
  const double error = (a - b).abs().max().item<double>();
  const double size = std::max(1.0, b.abs().max().item<double>());
  EXPECT_LE(error, tolerance * size) << what;
}

void check(const Case& c, at::ScalarType type, double tolerance) {
  AttentionInputs in = make_inputs(c, type);
  const int64_t tokens = in.qkv.size(0);
  // Poisoned outputs show an element that was not written.
  at::Tensor out = at::full({tokens, c.heads * c.dim}, NAN, type);
  at::Tensor log_sum = at::full({tokens, c.heads}, NAN, type);
  attention_forward(in, out, log_sum);

  AttentionInputs twin = in;
  twin.qkv = in.qkv.clone().set_requires_grad(true);
  if (c.table) twin.table = in.table.clone().set_requires_grad(true);
  if (c.query_scale) twin.query_scale = in.query_scale.clone().set_requires_grad(true);
  if (c.key_bias) twin.key_bias = in.key_bias.clone().set_requires_grad(true);
  if (c.dense > 0) twin.dense = in.dense.clone().set_requires_grad(true);
  const at::Tensor expected = plain(twin);
  expect_near(out, expected, tolerance, "out");

  const at::Tensor d_out = at::randn_like(out);
  AttentionGradients got = gradients_for(in);
  attention_backward(in, log_sum, d_out, got);
  expected.backward(d_out);
  if (c.key_bias) expect_near(got.key_bias, twin.key_bias.grad(), tolerance, "d_key_bias");
  if (c.query_scale) expect_near(got.query_scale, twin.query_scale.grad(), tolerance, "d_query_scale");
  expect_near(got.qkv, twin.qkv.grad(), tolerance, "d_qkv");
  if (c.table) expect_near(got.table, twin.table.grad(), tolerance, "d_table");
  if (c.dense > 0) expect_near(got.dense, twin.dense.grad(), tolerance, "d_dense");
}

class AttentionTwins : public testing::TestWithParam<Case> {};

TEST_P(AttentionTwins, AgreeInDouble) {
  check(GetParam(), at::kDouble, 1e-12);
}

TEST_P(AttentionTwins, AgreeInFloat) {
  check(GetParam(), at::kFloat, 2e-5);
}

/// The twin sees the same rounded inputs in float; what differs is the rounding of the results.
TEST_P(AttentionTwins, AgreeInBf16) {
  const Case& c = GetParam();
  const AttentionInputs exact = make_inputs(c, at::kFloat);
  AttentionInputs in = exact;
  in.qkv = poisoned_like(exact.qkv.to(at::kBFloat16)).copy_(exact.qkv);
  const int64_t tokens = in.qkv.size(0);
  at::Tensor out = at::full({tokens, c.heads * c.dim}, NAN, at::kBFloat16);
  at::Tensor log_sum = at::full({tokens, c.heads}, NAN, at::kFloat);
  attention_forward(in, out, log_sum);

  AttentionInputs twin = exact;
  twin.qkv = in.qkv.to(at::kFloat).set_requires_grad(true);
  if (c.table) twin.table = in.table.clone().set_requires_grad(true);
  if (c.dense > 0) twin.dense = in.dense.clone().set_requires_grad(true);
  const at::Tensor expected = plain(twin);
  expect_near(out.to(at::kFloat), expected, 4e-3, "out");

  const at::Tensor d_out = at::randn_like(expected).to(at::kBFloat16);
  AttentionGradients got = gradients_for(in);
  attention_backward(in, log_sum, d_out, got);
  expected.backward(d_out.to(at::kFloat));
  expect_near(got.qkv.to(at::kFloat), twin.qkv.grad(), 1e-2, "d_qkv");
  if (c.table) expect_near(got.table, twin.table.grad(), 1e-2, "d_table");
  if (c.dense > 0) expect_near(got.dense, twin.dense.grad(), 1e-2, "d_dense");
}

std::vector<Case> cases() {
  std::vector<Case> all{
      {.lengths = {1}},
      {.lengths = {1, 1, 2}, .table = true},
      {.lengths = {7, 8, 9, 16, 17, 33}, .heads = 3, .dim = 16, .pairs = 4, .table = true, .dropout = 0.3},
      {.lengths = {40, 1, 5}, .heads = 4, .dim = 32, .scale = 0.17},
      {.lengths = {130, 3}, .heads = 1, .dim = 64, .pairs = 32, .dropout = 0.1},
      {.lengths = {20, 21}, .heads = 2, .dim = 100, .table = true},
      {.lengths = {12, 31}, .heads = 5, .dim = 6, .pairs = 3, .table = true, .dropout = 0.5, .scale = 2},
      {.lengths = {33, 5, 60}, .dim = 16, .window = 1},
      {.lengths = {33, 5, 70}, .dim = 16, .table = true, .dropout = 0.2, .window = 7},
      {.lengths = {100, 16, 17}, .dim = 32, .pairs = 4, .window = 16},
      {.lengths = {90}, .heads = 1, .dim = 8, .window = 200},
      {.lengths = {9, 30}, .dim = 12, .pairs = 3, .scale = 0.5, .key_turn = true},
      {.lengths = {9, 30}, .heads = 3, .dim = 20, .pairs = 2, .scale = 0.5, .query_scale = true},
      {.lengths = {9, 30, 1}, .heads = 3, .dim = 20, .key_bias = true, .apart = 3},
      {.lengths = {70, 16}, .dim = 16, .table = true, .dropout = 0.2, .window = 9, .key_bias = true, .apart = 2},
      {.lengths = {9, 30, 1, 17}, .heads = 3, .dim = 20, .dense = 1},
      {.lengths = {9, 30, 1, 17}, .heads = 3, .dim = 20, .pairs = 4, .dropout = 0.2, .dense = 2},
      {.lengths = {70, 16}, .dim = 16, .table = true, .dropout = 0.2, .window = 9, .key_bias = true, .dense = 1},
      {.lengths = {50, 41},
       .heads = 3,
       .dim = 16,
       .pairs = 8,
       .table = true,
       .dropout = 0.3,
       .scale = 0.3,
       .key_turn = true,
       .query_scale = true,
       .window = 11},
  };
  Rng rng = Rng(5).stream("cases");
  for (int i = 0; i < 12; ++i) {
    Case c;
    for (int64_t s = rng.between(1, 20); s > 0; --s) c.lengths.push_back(rng.between(1, 50));
    c.heads = rng.between(1, 4);
    c.dim = rng.between(1, 40);
    c.pairs = rng.between(0, c.dim / 2);
    c.table = rng.coin();
    c.dropout = rng.coin() ? 0.2 : 0;
    all.push_back(c);
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Shapes, AttentionTwins, testing::ValuesIn(cases()));

TEST(Attention, DoesNotDependOnTheNumberOfThreads) {
  const AttentionInputs in = make_inputs(
      {.lengths = {30, 11, 25, 8, 40}, .heads = 3, .dim = 24, .table = true, .dropout = 0.1, .dense = 1}, at::kFloat);
  const auto run = [&] {
    at::Tensor out = at::empty({in.qkv.size(0), 72});
    at::Tensor log_sum = at::empty({in.qkv.size(0), 3});
    attention_forward(in, out, log_sum);
    AttentionGradients got = gradients_for(in);
    attention_backward(in, log_sum, at::ones_like(out), got);
    return at::cat({out.flatten(), got.qkv.flatten(), got.table.flatten(), got.dense.flatten()});
  };
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  const at::Tensor one = run();
  at::set_num_threads(4);
  const at::Tensor four = run();
  at::set_num_threads(before);
  EXPECT_TRUE(at::equal(one, four));
}

// Denormal numbers would slow everything down that is computed with them on x86.
TEST(Attention, HasNoWeightThatIsNearlyNothing) {
  constexpr int32_t kKeys = 160;
  float row[kKeys];
  for (int32_t j = 0; j < kKeys; ++j) row[j] = -static_cast<float>(j);
  row[3] = -std::numeric_limits<float>::infinity();
  attention_detail::softmax_row(row, kKeys, kKeys);
  const double sum = 1 / (1 - std::exp(-1.0)) - std::exp(-3.0);
  for (int32_t j = 0; j < kKeys; ++j) {
    const double exact = j == 3 ? 0 : std::exp(-static_cast<double>(j)) / sum;
    EXPECT_NEAR(row[j], exact, 1e-7) << j;
    EXPECT_TRUE(row[j] == 0 || row[j] > 1e-18f) << j << ": " << row[j];
  }
}

TEST(Attention, HasNoGradientThatIsNearlyNothing) {
  AttentionInputs in = make_inputs({.lengths = {160}, .heads = 1, .dim = 32, .key_bias = true}, at::kFloat);
  in.key_bias.copy_(at::arange(160, at::kFloat).unsqueeze(1));  // forgets a nat at every token
  at::Tensor out = at::empty({160, 32});
  at::Tensor log_sum = at::empty({160, 1});
  attention_forward(in, out, log_sum);
  AttentionGradients got = gradients_for(in);
  attention_backward(in, log_sum, at::randn_like(out) * 1e-13, got);
  const float* values = got.qkv.const_data_ptr<float>();
  int64_t denormal = 0;
  for (int64_t i = 0; i < got.qkv.numel(); ++i) denormal += std::fpclassify(values[i]) == FP_SUBNORMAL ? 1 : 0;
  EXPECT_EQ(denormal, 0);
  EXPECT_GT(got.qkv.abs().max().item<double>(), 1e-14);
}

TEST(Attention, SurvivesExtremeScores) {
  AttentionInputs in = make_inputs({.lengths = {9, 14}}, at::kFloat);
  in.qkv.mul_(60);
  at::Tensor out = at::empty({23, 16});
  at::Tensor log_sum = at::empty({23, 2});
  attention_forward(in, out, log_sum);
  EXPECT_TRUE(at::isfinite(out).all().item<bool>());
  EXPECT_TRUE(at::isfinite(log_sum).all().item<bool>());
}

}  // namespace
}  // namespace lengthwise
