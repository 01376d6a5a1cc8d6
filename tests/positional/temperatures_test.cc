// Factors of a query's scores.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/positional/made_encoding.h"

namespace lengthwise {
namespace {

using testing_encoding::expect_same;
using testing_encoding::Made;

double scale_at(const std::string& text, int64_t position) {
  const at::Tensor scales = Made(text, 64).values({3, position}).query_scale;
  EXPECT_EQ(scales.sizes(), (std::vector<int64_t>{2, 3})) << text;
  EXPECT_TRUE(at::equal(scales[1], scales[1][0].expand({3}))) << text;
  return scales[1][0].item<double>();
}

TEST(LogN, IsOneAtTheEndOfTheTrainedLength) {
  EXPECT_NEAR(scale_at("log-n", 511), 1, 1e-12);
  EXPECT_NEAR(scale_at("log-n(trained=64)", 63), 1, 1e-12);
  EXPECT_NEAR(scale_at("log-n(trained=64)", 64 * 64 - 1), 2, 1e-12);
  EXPECT_EQ(scale_at("log-n", 0), 0);
}

TEST(LogN, IsNotLessThanItsLeast) {
  EXPECT_EQ(scale_at("log-n(trained=64,least=1)", 10), 1);
  EXPECT_NEAR(scale_at("log-n(trained=64,least=1)", 255), 8.0 / 6, 1e-12);
}

TEST(Ssmax, KeepsTheLargestWeightWhateverTheNumberOfKeys) {
  // The paper's picture: scores -2 but for one +3 and s = 0.43 hold the weight of the one near 1.
  for (const int64_t keys : {10, 1000, 100000}) {
    const double scale = scale_at("ssmax(start=0.43)", keys - 1);
    EXPECT_NEAR(scale, 0.43 * std::log(static_cast<double>(keys)), 1e-9);
    const double one = std::exp(3 * scale), others = static_cast<double>(keys - 1) * std::exp(-2 * scale);
    EXPECT_GT(one / (one + others), 0.9) << keys;
  }
  EXPECT_LT(std::exp(3) / (std::exp(3) + 99999 * std::exp(-2)), 0.01);
}

TEST(Ssmax, StartsNearTheSoftmaxOfThePapersLength) {
  double sum = 0;
  for (int64_t n = 1; n <= 1024; ++n) sum += std::log(static_cast<double>(n));
  EXPECT_NEAR(scale_at("ssmax", 1023) / std::log(1024.0), 1024 / sum, 1e-3);
}

TEST(Ssmax, IsLogNWithItsScaleHeld) {
  const std::string held = fmt::format("ssmax(start={})", 1 / std::log(64.0));
  for (const int64_t position : {0, 5, 63, 200}) {
    EXPECT_NEAR(scale_at(held, position), scale_at("log-n(trained=64)", position), 1e-12);
  }
}

TEST(HeadScale, IsOneToBeginWithAndTheSameAtEveryPosition) {
  EXPECT_EQ(scale_at("head-scale", 0), 1);
  EXPECT_EQ(scale_at("head-scale(start=1.2)", 1000), 1.2);
}

TEST(LearnedTemperatures, BelongToALayerAndAHead) {
  for (const char* text : {"ssmax", "head-scale"}) {
    const Made made(text, 64);
    const Parameter& scales = made.parameters().all().front();
    EXPECT_EQ(scales.shape, (std::vector<int64_t>{2, 3})) << text;
    EXPECT_FALSE(scales.decay) << text;
    EXPECT_NE(made.encoding().variant(0), made.encoding().variant(1)) << text;
    made.values({4, 9}, 1).query_scale.sum().backward();
    EXPECT_EQ(scales.gradient[0].abs().max().item<double>(), 0) << text;
    EXPECT_GT(scales.gradient[1].min().item<double>(), 0) << text;
  }
}

TEST(LearnedTemperatures, AreTheSameAskedForTogetherAndAlone) {
  for (const char* text : {"ssmax", "head-scale", "ssmax+head-scale(start=3)"}) {
    const Made made(text, 64);
    for (const Parameter& parameter : made.parameters().all()) {
      at::NoGradGuard no_grad;
      at::Tensor values = parameter.value;
      values.copy_(at::arange(1, 7, at::kDouble).view({2, 3}));
    }
    EncodingContext together;
    together.positions = at::tensor({2, 7, 30}, at::kLong);
    for (const int64_t layer : {1, 0}) {
      const at::Tensor scale = made.encoding().layer(layer, together).query_scale;
      expect_same(scale, made.values({2, 7, 30}, layer).query_scale, text);
      EXPECT_EQ(scale.sizes(), (std::vector<int64_t>{3, 3})) << text;
    }
    // Other positions in a copy of the context are asked for anew.
    EncodingContext elsewhere = together;
    elsewhere.positions = at::tensor({5}, at::kLong);
    expect_same(made.encoding().layer(1, elsewhere).query_scale, made.values({5}, 1).query_scale, text);
    // What both layers learn comes back through the one operation.
    const at::Tensor both =
        made.encoding().layer(0, together).query_scale.sum() + 2 * made.encoding().layer(1, together).query_scale.sum();
    both.backward();
    const at::Tensor gradient = made.parameters().all().front().gradient.clone();
    at::Tensor buffer = made.parameters().all().front().gradient;
    buffer.zero_();
    made.values({2, 7, 30}, 0).query_scale.sum().backward();
    made.values({2, 7, 30}, 1).query_scale.sum().backward(at::full({}, 2.0, at::kDouble));
    expect_same(gradient, made.parameters().all().front().gradient, text);
  }
}

TEST(Temperatures, MultiplyInSumsAndJoinRotations) {
  const LayerValues values = Made("rope+log-n(trained=64)+head-scale(start=2)", 64).values({63});
  EXPECT_TRUE(values.query.cos.defined());
  EXPECT_NEAR(values.query_scale[0][0].item<double>(), 2, 1e-12);
}

}  // namespace
}  // namespace lengthwise
