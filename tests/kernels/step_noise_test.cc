// Random numbers made by tensor operations are those of the hash they stand for, and follow a seed that changes.
#include "kernels/step_noise.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/rng.h"
#include "kernels/dropout.h"

namespace lengthwise {
namespace {

at::Tensor as_tensor(uint64_t seed) {
  return at::full({1}, static_cast<int64_t>(seed), at::kLong);
}

TEST(StepNoise, MasksAreThoseOfDropout) {
  for (const uint64_t seed : {uint64_t{0}, uint64_t{77}, uint64_t{0x8000000000000001}, ~uint64_t{0}}) {
    for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
      constexpr uint64_t kPlace = 64 * 3 + 7;
      const Dropout dropout{0.1, mix64(seed + kPlace)};
      const at::Tensor expected = dropout_mask(dropout, 37, 51, type);
      EXPECT_TRUE(at::equal(StepNoise(0.1, seed, kPlace).mask(37, 51, type), expected)) << seed;
      EXPECT_TRUE(at::equal(StepNoise(0.1, as_tensor(seed), kPlace).mask(37, 51, type), expected)) << seed;
      EXPECT_GT(expected.eq(0).sum().item<int64_t>(), 37 * 51 / 20);
    }
  }
}

TEST(StepNoise, FollowsASeedThatIsWrittenAnew) {
  at::Tensor seed = as_tensor(5);
  const StepNoise noise(0.5, seed, 1);
  const at::Tensor first = noise.bits(8, 9);
  seed.fill_(6);
  EXPECT_FALSE(at::equal(noise.bits(8, 9), first));
  EXPECT_TRUE(at::equal(noise.bits(8, 9), StepNoise(0, uint64_t{6}, 1).bits(8, 9)));
  EXPECT_FALSE(at::equal(noise.bits(8, 9), StepNoise(0, uint64_t{6}, 2).bits(8, 9)));
  seed.fill_(5);
  EXPECT_TRUE(at::equal(noise.bits(8, 9), first));
}

TEST(StepNoise, BitsAreUniform) {
  const at::Tensor bits = StepNoise(0, uint64_t{3}, 1).bits(300, 301).to(at::kDouble);
  EXPECT_GE(bits.min().item<double>(), 0);
  EXPECT_LE(bits.max().item<double>(), 65535);
  EXPECT_NEAR(bits.mean().item<double>() / 65535, 0.5, 0.005);
  EXPECT_NEAR(bits.std().item<double>() / 65535, std::sqrt(1.0 / 12), 0.005);
}

TEST(StepNoise, IsNotThereOutsideTraining) {
  const StepNoise none;
  EXPECT_FALSE(none.training());
  EXPECT_FALSE(none.drops());
  EXPECT_TRUE(at::equal(none.mask(2, 3, at::kFloat), at::ones({2, 3})));
  EXPECT_THROW(none.bits(2, 3), std::logic_error);
  EXPECT_TRUE(StepNoise(0, uint64_t{1}, 1).training());
  EXPECT_FALSE(StepNoise(0, uint64_t{1}, 1).drops());
}

}  // namespace
}  // namespace lengthwise
