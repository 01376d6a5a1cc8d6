// Rotations other than RoPE: published frequencies, and what each is where it meets another.
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

void expect_frequencies(const std::string& text, int64_t head_dim,
                        const std::vector<std::pair<int64_t, double>>& known) {
  const at::Tensor found = frequencies(text, head_dim);
  for (const auto& [pair, frequency] : known) {
    EXPECT_NEAR(found[pair].item<double>(), frequency, 1e-5 * frequency) << text << ", pair " << pair;
  }
}

TEST(PRope, KeepsTheHighestFrequenciesOfTheWholeHead) {
  const at::Tensor all = frequencies("rope(fraction=1)", 64);
  // Not to the last bit: powers of a whole vector of numbers and of what is left of one differ on some processors.
  const auto same = [](const at::Tensor& a, const at::Tensor& b) { return at::allclose(a, b, 1e-6, 0); };
  EXPECT_TRUE(same(frequencies("p-rope", 64), all.narrow(0, 0, 24)));
  EXPECT_TRUE(same(frequencies("p-rope(p=0.25)", 64), all.narrow(0, 0, 8)));
  EXPECT_FALSE(at::allclose(frequencies("p-rope(p=0.25)", 64), frequencies("rope", 64)));
}

TEST(PRope, IsRopeWithAllFrequenciesAndNopeWithNone) {
  expect_same_values("p-rope(p=1)", "rope(fraction=1)");
  expect_same_values("p-rope(p=0)", "nope");
}

TEST(HighFrequencyHope, KeepsWhatTurnsWithinTheTrainedLength) {
  // The first 16 planes of 64 dims complete a turn within 512 tokens.
  expect_same_values("hope(trained=512)", "p-rope(p=0.5)");
  expect_same_values("hope", "hope(trained=512)");
  expect_same_values("hope(trained=100000)", "rope(fraction=1)");
  expect_same_values("hope(trained=6)", "nope");
}

TEST(TrainedLength, IsThatOfTheModelWhereNoneIsGiven) {
  EncodingShape shape = testing_encoding::shape_of(64);
  shape.trained_length = 63;
  EXPECT_EQ(Made("hope", shape).values({0}).query.cos.size(1), 9);
  EXPECT_EQ(Made("hope(trained=512)", shape).values({0}).query.cos.size(1), 16);
}

TEST(Resonance, HasWholeWavelengths) {
  const at::Tensor wavelengths = 2 * M_PI / frequencies("resonance", 64);
  for (const auto& [pair, tokens] :
       std::vector<std::pair<int64_t, double>>{{0, 6}, {1, 8}, {8, 63}, {16, 628}, {24, 6283}, {31, 47117}}) {
    EXPECT_NEAR(wavelengths[pair].item<double>(), tokens, 1e-6) << pair;
  }
  const Rotation turn = Made("resonance", 64).values({5, 5 + 8}).query;
  EXPECT_NEAR(turn.cos[0][1].item<double>(), turn.cos[1][1].item<double>(), 1e-12);
}

TEST(EvqCosh, HasThePublishedFrequencies) {
  expect_frequencies("evq-cosh(trained=512)", 64,
                     {{0, .950355}, {8, .369461}, {15, .119306}, {24, .0106218}, {31, 1.5337e-4}});
  expect_frequencies("evq-cosh(trained=128)", 64, {{0, .974686}, {31, 1.23645e-3}});
  expect_same_values("evq-cosh(tau=4)", "evq-cosh(trained=256)");
}

TEST(EvqCosh, IsGeometricBetweenRopesFrequenciesWhereTauIsSmall) {
  const at::Tensor rope = frequencies("rope(fraction=1)", 64);
  EXPECT_TRUE(at::allclose(frequencies("evq-cosh(tau=0.0001)", 64), rope * std::pow(10000.0, -0.5 / 32), 1e-7, 0));
}

TEST(HalfTruncated, HasThePublishedFrequencies) {
  expect_frequencies("half-truncated", 128, {{0, 1}, {1, .799638}, {15, .0349465}, {31, 9.76562e-4}});
  EXPECT_EQ(frequencies("half-truncated", 128).size(0), 32);
}

TEST(Xpos, DecaysEachPairAsPublished) {
  // Per 512 tokens: the product of the factors of a query and a key that far apart.
  const LayerValues values = Made("xpos", 64).values({100, 612});
  const auto factor = [](const Rotation& turn, int64_t token) {
    return (turn.cos[token].square() + turn.sin[token].square()).sqrt();
  };
  const at::Tensor decay = factor(values.query, 1) * factor(values.key, 0);
  for (const auto& [pair, zeta] :
       std::vector<std::pair<int64_t, double>>{{0, 0.285714}, {16, 0.642857}, {31, 0.977679}}) {
    EXPECT_NEAR(decay[pair].item<double>(), zeta, 1e-6) << pair;
  }
  EXPECT_TRUE(at::allclose(factor(values.query, 1) * factor(values.key, 1), at::ones({32}, at::kDouble)));
}

TEST(Xpos, IsRopeWithoutItsDecay) {
  const LayerValues values = Made("xpos(scale=1e15)", 64).values({0, 7, 300});
  const Rotation rope = Made("rope(fraction=1)", 64).values({0, 7, 300}).query;
  for (const Rotation& turn : {values.query, values.key}) {
    EXPECT_TRUE(at::allclose(turn.cos, rope.cos, 1e-10, 1e-10));
    EXPECT_TRUE(at::allclose(turn.sin, rope.sin, 1e-10, 1e-10));
  }
}

TEST(Xpos, StaysInTheRangeOfFloatsUpToItsLimit) {
  EncodingShape shape = testing_encoding::shape_of(64);
  shape.type = at::kFloat;
  const Made made("xpos", shape);
  const int64_t limit = made.encoding().position_limit().value();
  EXPECT_GT(limit, 30000);
  const LayerValues values = made.values({limit - 1});
  const at::Tensor product = values.query.cos * values.key.cos + values.query.sin * values.key.sin;
  EXPECT_TRUE(at::allclose(product, at::ones({1, 32}), 1e-4, 1e-4)) << product;
}

TEST(Rotations, RefuseWhatCannotBe) {
  EXPECT_NE(refusal("p-rope(p=1.5)").find("p must be between 0 and 1"), std::string::npos);
  EXPECT_NE(refusal("half-truncated(fraction=0)").find("fraction must be above 0"), std::string::npos);
  EXPECT_NE(refusal("resonance(base=1)").find("base (--rotary-base) must be above 1"), std::string::npos);
  EXPECT_NE(refusal("xpos(gamma=0)").find("gamma must be above 0"), std::string::npos);
  EXPECT_NE(refusal("hope(trained=1)").find("trained must be 0 or at least 2"), std::string::npos);
}

}  // namespace
}  // namespace lengthwise
