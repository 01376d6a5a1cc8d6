// Encodings at positions that come by a rule.
#include "positional/placed.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "positional/formulas.h"
#include "tests/positional/made_encoding.h"

namespace lengthwise {
namespace {

using namespace testing_encoding;

/// What an encoding of one rule states for one sequence with these positions.
LayerValues placed_at(const Made& made, const at::Tensor& positions, int64_t layer = 0) {
  const std::vector<PositionRule> rules = rules_of(made.encoding());
  EXPECT_EQ(rules.size(), 1U);
  EncodingContext context;
  context.positions = at::arange(positions.size(0), at::kLong);
  context.distances = positions.size(0);
  context.query_positions = context.key_positions = context.positions.unsqueeze(0);
  context.streams.push_back({rules.front(), positions, positions.unsqueeze(0), positions.unsqueeze(0)});
  return made.encoding().layer(layer, context);
}

at::Tensor apart(const at::Tensor& positions) {
  return (positions.unsqueeze(1) - positions.unsqueeze(0)).clamp_min(0);
}

TEST(Placed, BiasesGoByTheDifferenceOfPositions) {
  const at::Tensor positions = at::tensor({int64_t{3}, int64_t{4}, int64_t{90}, int64_t{500}}, at::kLong);
  const Made made("randomized(alibi)", 8);
  const LayerValues values = placed_at(made, positions);
  EXPECT_FALSE(values.table.defined());
  const at::Tensor slopes = at::tensor(alibi_slopes(3), at::kDouble).view({3, 1, 1});
  expect_same(values.dense, (-slopes * apart(positions).to(at::kDouble)).unsqueeze(0), "biases");
}

TEST(Placed, RotationsGoByThePositions) {
  const at::Tensor positions = at::tensor({int64_t{3}, int64_t{4}, int64_t{90}, int64_t{500}}, at::kLong);
  const LayerValues values = placed_at(Made("randomized(rope)", 64), positions);
  const LayerValues plain = Made("rope", 64).values({3, 4, 90, 500});
  expect_same(values.query.cos, plain.query.cos, "cosines");
  expect_same(values.query.sin, plain.query.sin, "sines");
}

TEST(Placed, RealDistancesAreBetweenWholeOnes) {
  const at::Tensor positions = at::tensor({0.25, 3.0, 3.75, 200.5}, at::kDouble);
  // Of a straight line nothing is lost.
  const at::Tensor slopes = at::tensor(alibi_slopes(3), at::kDouble).view({3, 1, 1});
  expect_same(placed_at(Made("random-float(alibi)", 8), positions).dense, (-slopes * apart(positions)).unsqueeze(0),
              "biases");
  const Made t5("random-float(t5)", 8);
  const at::Tensor dense = placed_at(t5, positions).dense.detach();
  const at::Tensor& table = t5.parameters().all().front().value;  // [bucket, head], exact below 16
  EXPECT_TRUE(at::allclose(dense[0].select(1, 1).select(1, 0), 0.25 * table[2] + 0.75 * table[3], 1e-12, 1e-12));
  expect_same(placed_at(Made("random-float(rope)", 64), positions).query.cos.select(1, 0), at::cos(positions),
              "the first pair turns by the position");
}

TEST(Placed, KeysByDistanceAndWindowsGoByTheDifferenceOfPositions) {
  const at::Tensor positions = at::tensor({int64_t{3}, int64_t{4}, int64_t{90}, int64_t{500}}, at::kLong);
  const LayerValues shaw = placed_at(Made("randomized(shaw)", 8), positions);
  EXPECT_TRUE(at::equal(shaw.relative_distance, apart(positions).unsqueeze(0)));
  const LayerValues window = placed_at(Made("randomized(window(size=87))", 8), positions);
  EXPECT_EQ(window.window, 0);
  const at::Tensor seen = window.dense[0][0] == 0;
  EXPECT_TRUE(seen[2][1].item<bool>()) << "86 apart";
  EXPECT_FALSE(seen[2][0].item<bool>()) << "87 apart";
  EXPECT_TRUE(seen[3][3].item<bool>());
}

TEST(Placed, EqualRulesShareTheirPositions) {
  EXPECT_EQ(rules_of(Made("layers(randomized(rope),randomized(t5))", 64).encoding()).size(), 1U);
  EXPECT_EQ(rules_of(Made("randomized(rope)+random-float(t5)", 64).encoding()).size(), 2U);
  EXPECT_EQ(rules_of(Made("abacus+randomized(rope)+ssmax", 64).encoding()).size(), 2U);
  EXPECT_TRUE(rules_of(Made("layers(rope,t5)", 64).encoding()).empty());
}

TEST(Placed, OffsetsOfTheIndexMeanNothingToIt) {
  const auto absolute = [](const char* text) { return describe_encoding(read_encoding(text)).absolute; };
  EXPECT_TRUE(absolute("learned"));
  EXPECT_FALSE(absolute("randomized(learned)"));
  EXPECT_FALSE(absolute("coupled(sinusoidal)"));
  EXPECT_TRUE(absolute("learned+randomized(rope)"));
}

TEST(Placed, RoomIsWhatTrainingHad) {
  EncodingShape shape = shape_of(64);
  EXPECT_EQ(rules_of(Made("randomized(rope)", shape).encoding()).front().room, 2);
  shape.trained_room = 6;
  EXPECT_EQ(rules_of(Made("randomized(rope)", shape).encoding()).front().room, 6);
}

/// What is said when values are asked for.
std::string refusal_of_values(const std::string& text) {
  const Made made(text, shape_of(64));
  try {
    kinds_of(made.encoding(), shape_of(64));
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(Placed, RefusesWhatCannotBe) {
  EXPECT_EQ(refusal("random-float(learned)"),
            "the encoding learned has a table of whole positions, and these are real numbers");
  EXPECT_EQ(refusal("randomized(learned(positions=100))"),
            "the encoding randomized: max must be at most the 100 positions of learned(positions=100), not 512");
  EXPECT_EQ(refusal("randomized(learned(positions=100),max=100)"), "nothing was refused");
  EXPECT_EQ(refusal_of_values("random-float(shaw)"),
            "the encoding shaw has keys for whole distances, and these are real numbers");
  for (const char* by_distance : {"alibi", "fire", "shaw", "window", "t5", "rerope"}) {
    EXPECT_EQ(refusal_of_values(fmt::format("coupled({})", by_distance)),
              fmt::format("the encoding {} goes by distances, and coupled positions have none; use learned, sinusoidal "
                          "or a rotation",
                          by_distance));
  }
  for (const char* good : {"coupled(learned)", "coupled(rope)", "coupled(sinusoidal)", "random-float(sinusoidal)",
                           "random-float(fire)", "randomized(dape)", "randomized(cope)", "randomized(fox)"}) {
    EXPECT_EQ(refusal_of_values(good), "") << good;
  }
}

TEST(Placed, RunsFused) {
  const auto fused = [](const std::string& text, at::Device device) {
    return is_fused(kinds_of(Made(text, 64).encoding(), shape_of(64)), device);
  };
  for (const char* text : {"randomized(rope)", "random-float(sinusoidal)", "abacus+rope", "coupled(learned)",
                           "randomized(alibi)", "randomized(t5)", "random-float(fire)"}) {
    EXPECT_TRUE(fused(text, at::kCPU)) << text;
    EXPECT_TRUE(fused(text, at::kCUDA)) << text;
  }
  EXPECT_FALSE(fused("randomized(shaw)", at::kCPU));
}

}  // namespace
}  // namespace lengthwise
