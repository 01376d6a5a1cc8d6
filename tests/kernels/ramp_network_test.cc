// Biases by a network of one number: the pieces against the operations of the formula.
#include "kernels/ramp_network.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

namespace lengthwise {
namespace {

/// Two sequences of 70 queries and 150 keys, some of them still to come, at places that are not consecutive.
struct Subject {
  explicit Subject(at::ScalarType type) {
    at::manual_seed(5);
    shares.keys = std::get<0>(at::randint(0, 400, {2, 150}, at::kLong).sort(1));
    shares.queries = shares.keys.narrow(1, 40, 70);
    shares.scale = leaf(at::log1p(0.1 * at::arange(400, at::kDouble)), type);
    shares.reach = leaf(1 + 3 * at::rand({2, 70}, at::kDouble), type);
    at::Tensor in = at::randn({12}, at::kDouble);
    at::Tensor bias = at::randn({12}, at::kDouble);
    in[3] = 0;  // always there ...
    bias[3] = 2;
    in[4] = 0;  // ... and never
    bias[4] = -2;
    in[6].copy_(in[5]);  // two that begin at one point
    bias[6].copy_(bias[5]);
    bias[7].copy_(-50 * in[7]);  // begins or ends behind every share
    bias[8].copy_(50 * in[8]);   // and before
    network = {leaf(in, type), leaf(bias, type), leaf(at::randn({12, 3}, at::kDouble), type)};
  }
  static at::Tensor leaf(const at::Tensor& values, at::ScalarType type) {
    return values.to(type).clone().requires_grad_(true);
  }
  std::vector<at::Tensor> leaves() const { return {shares.scale, shares.reach, network.in, network.bias, network.out}; }

  DistanceShares shares;
  RampNetwork network;
};

/// The result and all gradients for one and the same gradient of the result.
template <class Biases>
std::vector<at::Tensor> run(const Biases& biases, at::ScalarType type) {
  const Subject subject(type);
  const at::Tensor y = biases(subject.shares, subject.network);
  at::manual_seed(9);
  const at::Tensor d_y = at::randn(y.sizes(), at::kDouble).to(type);
  torch::autograd::backward({y}, {d_y});
  std::vector<at::Tensor> found{y.detach()};
  for (const at::Tensor& leaf : subject.leaves()) found.push_back(leaf.grad());
  return found;
}

void agree(at::ScalarType type, double tolerance) {
  const std::vector<at::Tensor> got = run(ramp_biases, type);
  const std::vector<at::Tensor> right = run(plain_ramp_biases, at::kDouble);
  EXPECT_EQ(got[0].sizes(), at::IntArrayRef({2, 3, 70, 150}));
  for (size_t i = 0; i < right.size(); ++i) {
    const double error = ((got[i].to(at::kDouble) - right[i]).abs().max() / right[i].abs().max()).item<double>();
    EXPECT_LT(error, tolerance) << "tensor " << i;
  }
}

TEST(RampNetwork, AgreesWithItsPlainTwinForwardAndBackward) {
  agree(at::kDouble, 1e-12);
  agree(at::kFloat, 2e-5);
}

TEST(RampNetwork, DoesNotDependOnTheNumberOfThreads) {
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  const std::vector<at::Tensor> one = run(ramp_biases, at::kFloat);
  at::set_num_threads(4);
  const std::vector<at::Tensor> four = run(ramp_biases, at::kFloat);
  at::set_num_threads(before);
  for (size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(at::equal(one[i], four[i])) << "tensor " << i;
}

// A run whose weights are lost must not go on as if a unit had fallen silent.
TEST(RampNetwork, ShowsWeightsThatAreNoNumbers) {
  for (const bool of_bias : {false, true}) {
    Subject subject(at::kFloat);
    (of_bias ? subject.network.bias : subject.network.in).detach()[2].fill_(NAN);
    EXPECT_TRUE(at::isnan(ramp_biases(subject.shares, subject.network)).all().item<bool>()) << of_bias;
  }
}

}  // namespace
}  // namespace lengthwise
