// The small fused passes and the optimizer against ordinary tensor operations.
#include "kernels/elementwise.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "kernels/adamw.h"

namespace lengthwise {
namespace {

constexpr double kTight = 1e-12;

double worst(const at::Tensor& a, const at::Tensor& b) {
  return (a - b).abs().max().item<double>();
}

at::Tensor random(at::IntArrayRef shape) {
  return at::randn(shape, at::kDouble);
}

at::Tensor plain_norm(const at::Tensor& x, const at::Tensor& gain) {
  return x * at::rsqrt(x.square().mean(-1, true) + kNormEpsilon) * gain;
}

TEST(AddNorm, AgreesWithItsPlainTwinForwardAndBackward) {
  at::manual_seed(1);
  const Dropout dropout{0.25, 3};
  const at::Tensor x = random({37, 20}).set_requires_grad(true);
  const at::Tensor branch = random({37, 20}).set_requires_grad(true);
  const at::Tensor gain = random({20}).set_requires_grad(true);
  const at::Tensor sum_plain = x + branch * dropout_mask(dropout, 37, 20, at::kDouble);
  const at::Tensor normed_plain = plain_norm(sum_plain, gain);

  at::Tensor sum = at::full({37, 20}, NAN, at::kDouble);
  at::Tensor inverse = at::full({37}, NAN, at::kDouble);
  at::Tensor normed = at::full({37, 20}, NAN, at::kDouble);
  at::Tensor d_sum = random({37, 20});
  const at::Tensor d_normed = random({37, 20});
  const at::Tensor d_sum_given = d_sum.clone();
  at::Tensor d_branch = at::full({37, 20}, NAN, at::kDouble);
  at::Tensor d_gain = at::ones({20}, at::kDouble);
  {
    at::NoGradGuard no_grad;
    add_norm_forward(x, branch, dropout, gain, sum, inverse, normed);
    add_norm_backward(d_normed, sum, inverse, gain, dropout, d_sum, d_branch, d_gain);
  }
  EXPECT_LT(worst(sum, sum_plain), kTight);
  EXPECT_LT(worst(normed, normed_plain), kTight);
  torch::autograd::backward({normed_plain, sum_plain}, {d_normed, d_sum_given});
  EXPECT_LT(worst(d_sum, x.grad()), kTight);
  EXPECT_LT(worst(d_branch, branch.grad()), kTight);
  EXPECT_LT(worst(d_gain - 1, gain.grad()), kTight);
}

/// bfloat16 in memory: the same numbers as float on the same rounded inputs, rounded once more where they are stored.
TEST(AddNorm, RoundsOnlyWhatItStoresInBf16) {
  at::manual_seed(6);
  const Dropout none;
  const at::Tensor x = at::randn({70, 48});
  const at::Tensor branch = at::randn({70, 48}).to(at::kBFloat16);
  const at::Tensor gain = at::randn({48});
  const at::Tensor d_normed = at::randn({70, 48}).to(at::kBFloat16);
  at::Tensor sums[2], inverse[2], normed[2], d_sum[2], d_branch[2], d_gain[2];
  for (const int i : {0, 1}) {
    const auto type = i == 0 ? at::kFloat : at::kBFloat16;
    sums[i] = at::empty({70, 48});
    inverse[i] = at::empty({70});
    normed[i] = at::empty({70, 48}, type);
    d_sum[i] = at::ones({70, 48});
    d_branch[i] = at::empty({70, 48}, type);
    d_gain[i] = at::zeros({48});
    add_norm_forward(x, branch.to(type), none, gain, sums[i], inverse[i], normed[i]);
    add_norm_backward(d_normed.to(type), sums[i], inverse[i], gain, none, d_sum[i], d_branch[i], d_gain[i]);
  }
  // Vector code may sum in another order.
  EXPECT_LT(worst(sums[0], sums[1]), 1e-6);
  EXPECT_LT(worst(d_sum[0], d_sum[1]), 1e-5);
  EXPECT_LT(worst(d_gain[0], d_gain[1]), 1e-4);
  EXPECT_LE(worst(normed[0], normed[1]), normed[0].abs().max().item<double>() / 256);
  EXPECT_LE(worst(d_branch[0], d_branch[1]), d_branch[0].abs().max().item<double>() / 256);
}

TEST(ReluDropout, RoundsOnlyWhatItStoresInBf16) {
  at::manual_seed(7);
  const Dropout dropout{0.4, 8};
  at::Tensor rounded = at::randn({19, 33}).to(at::kBFloat16);
  at::Tensor exact = rounded.to(at::kFloat);
  at::Tensor d_rounded = at::randn({19, 33}).to(at::kBFloat16);
  at::Tensor d_exact = d_rounded.to(at::kFloat);
  relu_dropout_forward(rounded, dropout);
  relu_dropout_forward(exact, dropout);
  EXPECT_TRUE(at::equal(exact.to(at::kBFloat16), rounded));
  relu_dropout_backward(rounded, dropout, d_rounded);
  relu_dropout_backward(exact, dropout, d_exact);
  EXPECT_TRUE(at::equal(d_exact.to(at::kBFloat16), d_rounded));
}

TEST(ReluDropout, AgreesWithItsPlainTwin) {
  at::manual_seed(2);
  const Dropout dropout{0.4, 8};
  const at::Tensor x = random({19, 33}).set_requires_grad(true);
  const at::Tensor plain = at::relu(x) * dropout_mask(dropout, 19, 33, at::kDouble);
  at::Tensor y = x.detach().clone();
  relu_dropout_forward(y, dropout);
  EXPECT_LT(worst(y, plain), kTight);
  at::Tensor dy = random({19, 33});
  plain.backward(dy.clone());
  relu_dropout_backward(y, dropout, dy);
  EXPECT_LT(worst(dy, x.grad()), kTight);
}

TEST(Embed, AgreesWithItsPlainTwin) {
  at::manual_seed(3);
  const Dropout dropout{0.1, 5};
  const at::Tensor table = random({11, 130}).set_requires_grad(true);
  const at::Tensor addition = random({40, 130}).set_requires_grad(true);
  const at::Tensor tokens = at::randint(0, 11, {40}, at::kLong);
  const at::Tensor plain = (table.index_select(0, tokens) + addition) * dropout_mask(dropout, 40, 130, at::kDouble);
  at::Tensor x = at::full({40, 130}, NAN, at::kDouble);
  at::Tensor dx = random({40, 130});
  plain.backward(dx.clone());
  at::Tensor d_table = at::zeros({11, 130}, at::kDouble);
  at::NoGradGuard no_grad;
  embed_forward(table, tokens, addition, dropout, x);
  EXPECT_LT(worst(x, plain), kTight);
  embed_backward(tokens, dropout, dx, d_table);
  EXPECT_LT(worst(dx, addition.grad()), kTight);
  EXPECT_LT(worst(d_table, table.grad()), kTight);
}

TEST(CrossEntropy, AgreesWithItsPlainTwin) {
  at::manual_seed(4);
  const at::Tensor logits = (random({29, 17}) * 5).set_requires_grad(true);
  const at::Tensor targets = at::randint(0, 17, {29}, at::kLong);
  const at::Tensor plain = at::nll_loss(at::log_softmax(logits, -1), targets, {}, at::Reduction::None);
  at::Tensor work = logits.detach().clone();
  at::Tensor losses = at::full({29}, NAN, at::kDouble);
  at::Tensor best = at::full({29}, -1, at::kLong);
  cross_entropy(work, targets, 0.125, losses, best);
  EXPECT_LT(worst(losses, plain), kTight);
  EXPECT_TRUE(at::equal(best, logits.argmax(-1)));
  (plain.sum() * 0.125).backward();
  EXPECT_LT(worst(work, logits.grad()), kTight);
}

TEST(DropoutMask, KeepsTheRightShareAndDependsOnTheSeed) {
  const at::Tensor mask = dropout_mask({0.1, 42}, 500, 400, at::kDouble);
  EXPECT_NEAR((mask == 0).to(at::kDouble).mean().item<double>(), 0.1, 0.003);
  EXPECT_NEAR(mask.mean().item<double>(), 1.0, 0.003);
  EXPECT_FALSE(at::equal(mask, dropout_mask({0.1, 43}, 500, 400, at::kDouble)));
  // Neighbouring rows and columns must not be alike.
  const at::Tensor zero = (mask == 0).to(at::kDouble);
  EXPECT_NEAR((zero.narrow(0, 0, 499) * zero.narrow(0, 1, 499)).mean().item<double>(), 0.01, 0.002);
  EXPECT_NEAR((zero.narrow(1, 0, 399) * zero.narrow(1, 1, 399)).mean().item<double>(), 0.01, 0.002);
}

TEST(AdamW, FollowsItsFormula) {
  at::manual_seed(6);
  at::Tensor value = random({100});
  at::Tensor gradient, first = at::zeros({100}, at::kDouble), second = at::zeros({100}, at::kDouble);
  at::Tensor p = value.clone(), m = first.clone(), v = second.clone();
  at::Tensor decay = at::zeros({100}, at::kDouble);
  decay.narrow(0, 0, 60).fill_(0.05);
  for (int64_t t = 1; t <= 4; ++t) {
    gradient = random({100});
    const at::Tensor g = gradient * 0.5;
    m = 0.9 * m + 0.1 * g;
    v = 0.99 * v + 0.01 * g * g;
    const double rate = 0.01 * std::sqrt(1 - std::pow(0.99, t)) / (1 - std::pow(0.9, t));
    p = p - rate * m / (v.sqrt() + 1e-6);
    p = p - 0.01 * decay * p;
    adamw_update(value, gradient, first, second, 60,
                 {.step = t,
                  .lr = 0.01,
                  .beta1 = 0.9,
                  .beta2 = 0.99,
                  .epsilon = 1e-6,
                  .weight_decay = 0.05,
                  .gradient_scale = 0.5});
    EXPECT_EQ(gradient.abs().max().item<double>(), 0);
  }
  EXPECT_LT(worst(value, p), kTight);
}

TEST(ArenaNorm, IsTheEuclideanNorm) {
  at::manual_seed(7);
  const at::Tensor values = random({100000});
  EXPECT_NEAR(arena_norm(values), values.norm().item<double>(), 1e-9);
}

}  // namespace
}  // namespace lengthwise
