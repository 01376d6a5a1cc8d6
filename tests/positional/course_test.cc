// Dropping an encoding in the course of training, and what evaluation has in its place.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/positional/made_encoding.h"

namespace lengthwise {
namespace {

using testing_encoding::Made;
using testing_encoding::refusal;
using testing_encoding::shape_of;

LayerValues in_training(const Made& made, double done) {
  EncodingContext context;
  context.positions = at::arange(9);
  context.distances = 9;
  context.noise = StepNoise(0.1, uint64_t{5}, 1, done);
  return made.encoding().layer(0, context);
}

TEST(Drope, DropsWhereItSays) {
  const Made made("drope(rope,at=0.7)", 64);
  EXPECT_TRUE(in_training(made, 0).query.cos.defined());
  EXPECT_TRUE(in_training(made, 0.699).query.cos.defined());
  EXPECT_FALSE(in_training(made, 0.7).query.cos.defined());
  EXPECT_FALSE(made.values({0, 5}).query.cos.defined()) << "outside training";
}

TEST(Drope, ScalesInEvaluationAlone) {
  const Made made("drope(rope,scale=0.412,trained=100)", 64);
  EXPECT_FALSE(in_training(made, 0.99).query_scale.defined());
  const at::Tensor scales = made.values({0, 99, 199, 399, 799}).query_scale;
  EXPECT_EQ(scales.sizes(), (std::vector<int64_t>{5, 3}));
  // The paper's at 1, 2, 4 and 8 times the trained length.
  const std::vector<double> wanted{1, 1, 1.285577, 1.571153, 1.856730};
  for (size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_NEAR(scales[static_cast<int64_t>(i)][2].item<double>(), wanted[i], 1e-6);
  }
  EXPECT_FALSE(Made("drope(rope)", 64).values({500}).query_scale.defined());
}

TEST(Drope, SaysWhatItStatesAtAnyTime) {
  const EncodingShape shape = shape_of(64);
  EXPECT_EQ(kinds_of(Made("drope(rope)", 64).encoding(), shape), uint32_t{kCourse | kRotation});
  const uint32_t scaled = kinds_of(Made("layers(drope(rope,scale=1),nope)", 64).encoding(), shape);
  EXPECT_EQ(scaled, uint32_t{kCourse | kRotation | kQueryScale});
  EXPECT_TRUE(is_fused(scaled, at::kCPU));
  EXPECT_TRUE(is_fused(kinds_of(Made("drope(rope)", 64).encoding(), shape), at::kCUDA));
}

TEST(Drope, RefusesWhatCannotBe) {
  for (const char* text : {"drope(learned)", "drope(randomized(sinusoidal))", "drope(alibi+learned)", "drope(abacus)",
                           "layers(alibi+learned,nope)", "layers(randomized(learned),nope)", "layers(abacus,rope)"}) {
    EXPECT_NE(refusal(text).find("adds to the embeddings"), std::string::npos) << text;
  }
  EXPECT_NE(refusal("drope(rope,at=2)").find("at must be between 0 and 1"), std::string::npos);
  EXPECT_NE(refusal("drope").find("drope is made of other encodings, as in drope(rope)"), std::string::npos);
}

}  // namespace
}  // namespace lengthwise
