// Biases of pairs from a table by distance: the loops against ordinary operations.
#include "kernels/pair_biases.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

namespace lengthwise {
namespace {

/// Two sequences of 70 queries and 150 keys, some of them still to come and some farther away than the table reaches.
PairPlaces some_places(bool whole) {
  at::manual_seed(5);
  const at::Tensor drawn = at::rand({2, 150}, at::kDouble) * 400;
  const at::Tensor keys = std::get<0>((whole ? drawn.to(at::kLong) : drawn).sort(1));
  return {keys.narrow(1, 40, 70), keys};
}

/// The biases, and the gradient of the table for one and the same gradient of the biases.
template <class Biases>
std::vector<at::Tensor> run(const Biases& biases, at::ScalarType type, bool whole) {
  const PairPlaces places = some_places(whole);
  const at::Tensor table = at::randn({3, 300}, at::kDouble).to(type).requires_grad_(true);
  const at::Tensor y = biases(table, places);
  at::manual_seed(9);
  torch::autograd::backward({y}, {at::randn(y.sizes(), at::kDouble).to(type)});
  return {y.detach(), table.grad()};
}

TEST(PairBiases, AgreeWithTheirPlainTwinForwardAndBackward) {
  for (const bool whole : {true, false}) {
    const std::vector<at::Tensor> right = run(plain_pair_biases, at::kDouble, whole);
    EXPECT_EQ(right[0].sizes(), at::IntArrayRef({2, 3, 70, 150}));
    for (const auto& [type, tolerance] : {std::pair{at::kDouble, 1e-12}, {at::kFloat, 1e-6}}) {
      const std::vector<at::Tensor> got = run(pair_biases, type, whole);
      for (size_t i = 0; i < right.size(); ++i) {
        EXPECT_EQ(got[i].scalar_type(), type);
        const double error = ((got[i].to(at::kDouble) - right[i]).abs().max() / right[i].abs().max()).item<double>();
        EXPECT_LT(error, tolerance) << "tensor " << i << (whole ? ", whole places" : ", real places");
      }
    }
  }
}

TEST(PairBiases, DoNotDependOnTheNumberOfThreads) {
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  const std::vector<at::Tensor> one = run(pair_biases, at::kFloat, false);
  at::set_num_threads(4);
  const std::vector<at::Tensor> four = run(pair_biases, at::kFloat, false);
  at::set_num_threads(before);
  for (size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(at::equal(one[i], four[i])) << "tensor " << i;
}

}  // namespace
}  // namespace lengthwise
