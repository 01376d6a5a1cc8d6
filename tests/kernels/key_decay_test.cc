// The decay of keys against ordinary operations with autograd.
#include "kernels/key_decay.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

namespace lengthwise {
namespace {

constexpr int64_t kBefore = 5;  ///< columns in front of those of the decay
constexpr int64_t kBehind = 2;
constexpr int64_t kHeads = 3;

struct Case {
  at::ScalarType storage = at::kDouble;
  double sign = 1;
  double tolerance = 1e-12;
};

void agree(const Case& c) {
  const at::ScalarType type = c.storage == at::kDouble ? at::kDouble : at::kFloat;
  at::manual_seed(3);
  const std::vector<int64_t> lengths{1, 40, 0, 17, 9, 30, 2, 2, 5, 64, 7};
  std::vector<int64_t> offsets{0};
  for (const int64_t length : lengths) offsets.push_back(offsets.back() + length);
  const int64_t tokens = offsets.back();
  // Far from 0 too, where the exponential overflows or vanishes.
  const at::Tensor columns = (30 * at::randn({tokens, kBefore + kHeads + kBehind}, type)).to(c.storage);
  const at::Tensor constant = at::randn({kHeads}, type);
  const at::Tensor d_bias = at::randn({tokens, kHeads}, type);

  const at::Tensor x = columns.narrow(1, kBefore, kHeads).to(at::kDouble).requires_grad_(true);
  const at::Tensor shift = constant.to(at::kDouble).requires_grad_(true);
  std::vector<at::Tensor> sums;
  for (size_t s = 0; s < lengths.size(); ++s) {
    const at::Tensor own = x.narrow(0, offsets[s], lengths[s]);
    sums.push_back(-at::log_sigmoid(c.sign * (own + shift)).cumsum(0));
  }
  const at::Tensor expected = at::cat(sums);
  torch::autograd::backward({expected}, {d_bias.to(at::kDouble)});

  const at::NoGradGuard no_grad;
  const DecayInputs in{columns.narrow(1, kBefore, kHeads), at::tensor(offsets, at::kLong), constant, c.sign};
  at::Tensor bias = at::full({tokens, kHeads}, NAN, type);
  key_decay_forward(in, bias);
  const at::Tensor all = at::full({tokens, kBefore + kHeads + kBehind}, 9, c.storage);
  at::Tensor d_columns = all.narrow(1, kBefore, kHeads);
  at::Tensor d_constant = at::ones({kHeads}, type);
  key_decay_backward(in, d_bias, d_columns, d_constant);
  const auto worst = [](const at::Tensor& got, const at::Tensor& right) {
    return ((got.to(at::kDouble) - right).abs().max() / right.abs().max()).item<double>();
  };
  EXPECT_LT(worst(bias, expected.detach()), type == at::kDouble ? 1e-12 : 1e-6);
  EXPECT_LT(worst(d_columns, x.grad()), c.tolerance);
  EXPECT_LT(worst(d_constant - 1, shift.grad()), type == at::kDouble ? 1e-12 : 1e-5);
  EXPECT_TRUE((all.narrow(1, 0, kBefore) == 9).all().item<bool>()) << "columns in front";
  EXPECT_TRUE((all.narrow(1, kBefore + kHeads, kBehind) == 9).all().item<bool>()) << "columns behind";
}

TEST(KeyDecayKernel, AgreesWithItsPlainTwinForwardAndBackward) {
  agree({});
  agree({.sign = -1});
  agree({.storage = at::kFloat, .tolerance = 1e-5});
  agree({.storage = at::kBFloat16, .sign = -1, .tolerance = 4e-3});
}

}  // namespace
}  // namespace lengthwise
