// RoPE stretched for longer sequences: published numbers, and RoPE itself where nothing is stretched.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/positional/made_encoding.h"

namespace lengthwise {
namespace {

using testing_encoding::expect_same_values;
using testing_encoding::frequencies;
using testing_encoding::Made;
using testing_encoding::refusal;

TEST(ScaledRotations, AreRopeWithFactorOne) {
  for (const std::string name : {"pi", "ntk", "yarn", "llama3"}) {
    expect_same_values(name + "(factor=1)", "rope");
    expect_same_values(name + "(factor=1,fraction=1,base=500000)", "rope(fraction=1,base=500000)");
  }
}

TEST(ScaledRotations, RefuseWhatCannotBe) {
  for (const std::string name : {"pi", "ntk", "yarn", "llama3"}) {
    EXPECT_NE(refusal(name + "(factor=0.5)").find("factor must be between 1 and"), std::string::npos) << name;
  }
  EXPECT_NE(refusal("yarn(fast=1)").find("fast must be more than slow"), std::string::npos);
  EXPECT_NE(refusal("llama3(high=0.5)").find("high must be more than low"), std::string::npos);
  EXPECT_NE(refusal("yarn(fraction=0.01)").find("fraction (--rotary-fraction) must be"), std::string::npos);
}

TEST(PositionInterpolation, IsRopeAtPositionsDividedByTheFactor) {
  const Rotation slow = Made("pi(factor=4,fraction=1)", 64).values({0, 4, 400}).query;
  const Rotation rope = Made("rope(fraction=1)", 64).values({0, 1, 100}).query;
  EXPECT_TRUE(at::allclose(slow.cos, rope.cos, 1e-12, 1e-12));
  EXPECT_TRUE(at::allclose(slow.sin, rope.sin, 1e-12, 1e-12));
}

TEST(Ntk, HasThePublishedBase) {
  const at::Tensor stretched = frequencies("ntk(factor=4,fraction=1)", 64);
  EXPECT_NEAR(std::pow(stretched[1].item<double>(), -32), 41829.37, 0.01);
  // The highest frequency stays and the lowest is divided by the factor.
  const at::Tensor rope = frequencies("rope(fraction=1)", 64);
  EXPECT_NEAR(stretched[0].item<double>(), 1, 1e-12);
  EXPECT_NEAR(stretched[31].item<double>(), rope[31].item<double>() / 4, 1e-12);
}

TEST(Ntk, LeavesASinglePairAlone) {
  EXPECT_TRUE(at::equal(frequencies("ntk", 8), frequencies("rope", 8)));
}

/// The first pair that turns slower than RoPE's and the first that is divided by the whole factor.
std::pair<int64_t, int64_t> ramp(const std::string& text, int64_t head_dim) {
  const at::Tensor share = frequencies(text, head_dim) / frequencies("rope(fraction=1)", head_dim);
  std::pair<int64_t, int64_t> found{-1, -1};
  for (int64_t c = share.size(0) - 1; c >= 0; --c) {
    if (share[c].item<double>() < 0.25 + 1e-9) found.second = c;
    if (share[c].item<double>() < 1 - 1e-9) found.first = c;
  }
  return found;
}

TEST(Yarn, RampsBetweenThePublishedPairs) {
  // The ramp is 1 at the lower end itself, so that the first pair that changes is the next one.
  EXPECT_EQ(ramp("yarn(factor=4,trained=512,fraction=1)", 64), std::pair(int64_t{3 + 1}, int64_t{16}));
  EXPECT_EQ(ramp("yarn(factor=4,trained=2048,fraction=1)", 64), std::pair(int64_t{8 + 1}, int64_t{21}));
  EXPECT_EQ(ramp("yarn(factor=4,trained=2048,fraction=1)", 128), std::pair(int64_t{16 + 1}, int64_t{41}));
  EXPECT_EQ(ramp("yarn(factor=4,trained=4096,fraction=1)", 128), std::pair(int64_t{20 + 1}, int64_t{46}));
}

TEST(Yarn, ScalesScoresByTheSquareOfThePublishedFactor) {
  for (const auto& [text, scale] : {std::pair("yarn(factor=4)", 1.138629), std::pair("yarn(factor=8)", 1.207944)}) {
    const at::Tensor scales = Made(text, 64).values({0, 9}).query_scale;
    EXPECT_EQ(scales.sizes(), (std::vector<int64_t>{2, 3}));
    EXPECT_TRUE(at::allclose(scales, at::full({2, 3}, scale * scale, at::kDouble), 1e-6, 0)) << text;
  }
}

TEST(Llama3, KeepsFastPairsAndDividesSlowOnes) {
  const at::Tensor rope = frequencies("rope(fraction=1)", 64);
  const at::Tensor share = frequencies("llama3(factor=8,trained=512,fraction=1)", 64) / rope;
  int64_t kept = 0, divided = 0, between = 0;
  for (int64_t c = 0; c < 32; ++c) {
    const double turns = 512 * rope[c].item<double>() / (2 * M_PI);
    const double blend = (turns - 1) / 3;
    const double wanted = turns > 4 ? 1 : turns < 1 ? 1.0 / 8 : blend + (1 - blend) / 8;
    EXPECT_NEAR(share[c].item<double>(), wanted, 1e-9) << c;
    ++(turns > 4 ? kept : turns < 1 ? divided : between);
  }
  EXPECT_EQ(divided, 16);
  EXPECT_EQ(kept, 11);
  EXPECT_EQ(between, 5);
}

}  // namespace
}  // namespace lengthwise
