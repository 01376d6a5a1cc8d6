#include "arena/parameters.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

namespace lengthwise {
namespace {

TEST(Parameters, AreViewsOfOneArenaWithTheDecayedOnesInFront) {
  Parameters parameters;
  Parameter& bias = parameters.add("bias", {3}, Initial::all(2), /*decay=*/false);
  Parameter& weight = parameters.add("weight", {4, 5}, Initial::normal(1));
  parameters.allocate(at::kFloat, Rng(1));
  EXPECT_EQ(parameters.count(), 23);
  EXPECT_EQ(weight.value.storage_offset(), 0);
  EXPECT_GE(bias.value.storage_offset(), parameters.decayed());
  EXPECT_EQ(parameters.values().storage().data(), weight.value.storage().data());
  EXPECT_EQ(bias.value.sum().item<double>(), 6);
  (weight.value * 3).sum().backward();
  EXPECT_EQ(weight.gradient.sum().item<double>(), 60) << "autograd adds into the arena";
  EXPECT_EQ(parameters.gradients().sum().item<double>(), 60);
}

TEST(Parameters, WeightsOfProductsStandInFront) {
  Parameters parameters;
  Parameter& bias = parameters.add("bias", {3}, Initial::all(2), /*decay=*/false);
  Parameter& gain = parameters.add("gain", {5}, Initial::all(1));
  Parameter& weight = parameters.add_product("weight", {4, 5}, Initial::normal(1));
  parameters.allocate(at::kFloat, Rng(1));
  EXPECT_EQ(weight.value.storage_offset(), 0);
  EXPECT_EQ(gain.value.storage_offset(), parameters.products());
  EXPECT_EQ(bias.value.storage_offset(), parameters.decayed());
}

TEST(Parameters, StartFromTheSeedAndTheNameAlone) {
  const auto value_of = [](bool with_other, uint64_t seed) {
    Parameters parameters;
    if (with_other) parameters.add("other", {7}, Initial::normal(1));
    Parameter& mine = parameters.add("mine", {6, 4}, Initial::columns({{1, 0.5}, {3, 2.0}}));
    parameters.allocate(at::kDouble, Rng(seed));
    return mine.value.detach().clone();
  };
  EXPECT_TRUE(at::equal(value_of(false, 1), value_of(true, 1)));
  EXPECT_FALSE(at::equal(value_of(false, 1), value_of(false, 2)));
}

TEST(Parameters, HaveNamesOfTheirOwn) {
  Parameters parameters;
  parameters.add("gain", {3}, Initial::all(1));
  EXPECT_THROW(parameters.add("gain", {4}, Initial::all(1)), std::logic_error);
  EXPECT_THROW(parameters.add_product("gain", {3, 3}, Initial::all(1)), std::logic_error);
  EXPECT_EQ(parameters.all().size(), 1);
}

TEST(FillNormal, HasTheMomentsOfANormal) {
  std::vector<double> x(200001);
  fill_normal(Rng(4), 2.0, x.data(), static_cast<int64_t>(x.size()));
  const at::Tensor t = at::tensor(x, at::kDouble) / 2;
  EXPECT_NEAR(t.mean().item<double>(), 0, 0.01);
  EXPECT_NEAR(t.pow(2).mean().item<double>(), 1, 0.01);
  EXPECT_NEAR(t.pow(4).mean().item<double>(), 3, 0.06);
  EXPECT_NEAR((t.abs() < 1).to(at::kDouble).mean().item<double>(), 0.6827, 0.004);
}

TEST(FillNormal, GivesTheSameNumbersWithAnyNumberOfThreads) {
  const auto drawn = [](int threads) {
    const int before = at::get_num_threads();
    at::set_num_threads(threads);
    std::vector<double> x(200001);
    fill_normal(Rng(4), 2.0, x.data(), static_cast<int64_t>(x.size()));
    at::set_num_threads(before);
    return x;
  };
  EXPECT_EQ(drawn(1), drawn(3));
}

}  // namespace
}  // namespace lengthwise
