// Rotations that depend on the distance or on the number of tokens: published numbers.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/positional/made_encoding.h"

namespace lengthwise {
namespace {

using testing_encoding::Made;
using testing_encoding::refusal;

/// The scores of one query for keys before it, when pair `pair` of all of them is (1, 0) and all else 0: cosines of
/// what the pair turns by between them.
at::Tensor cosines(const std::string& text, int64_t head_dim, int64_t pair, int64_t query,
                   const std::vector<int64_t>& keys) {
  const Made made(text, {.layers = 1, .heads = 1, .head_dim = head_dim, .width = head_dim, .type = at::kDouble});
  const auto count = static_cast<int64_t>(keys.size());
  PaddedHeads heads;
  heads.q = at::zeros({1, 1, 1, head_dim}, at::kDouble);
  heads.q.select(-1, 2 * pair).fill_(1);
  heads.k = heads.q.expand({1, 1, count, head_dim});
  heads.v = heads.k;
  heads.query_positions = at::tensor({query}, at::kLong).unsqueeze(0);
  heads.key_positions = at::tensor(keys, at::kLong).unsqueeze(0);
  heads.allowed = at::ones({1, 1, 1, count}, at::kBool);
  EncodingContext context;
  context.positions = heads.query_positions.flatten();
  context.query_positions = heads.query_positions;
  context.key_positions = heads.key_positions;
  context.distances = query + 1;
  return made.encoding().attend(0, heads, made.encoding().layer(0, context), context, 1, {}).scores.flatten();
}

/// How far away the query sees the key: told by two pairs, of the frequencies 1 and 1/100.
void expect_distance(const std::string& text, int64_t query, int64_t key, double distance) {
  for (const int64_t pair : {0, 1}) {
    const double angle = distance * (pair == 0 ? 1.0 : 0.01);
    EXPECT_NEAR(cosines(text, 4, pair, query, {key}).item<double>(), std::cos(angle), 1e-9)
        << text << ", query " << query << ", key " << key;
  }
}

TEST(SelfExtend, HasThePublishedDistances) {
  const std::string text = "self-extend(window=1024,group=8,fraction=1)";
  for (const auto& [query, distance] : {std::pair(1023, 1023), {1024, 1024}, {2048, 1152}, {8191, 1919}}) {
    expect_distance(text, query, 0, distance);
  }
  expect_distance(text, 8191, 8190, 1);
}

TEST(SelfExtend, RoundsDownWhereTheGroupDoesNotDivideTheWindow) {
  // 20 / 3 - 1 / 3 in whole groups is 6, and 5 - 5 / 3 is 4.
  expect_distance("self-extend(window=5,group=3,fraction=1)", 20, 1, 10);
  expect_distance("self-extend(window=5,group=3,fraction=1)", 20, 16, 4);
}

TEST(ReRope, StopsAtTheWindowOrLeaks) {
  for (const auto& [query, key, distance] : {std::tuple(5, 0, 5), {100, 84, 16}, {100, 83, 16}, {5000, 0, 16}}) {
    expect_distance("rerope(fraction=1)", query, key, distance);
  }
  expect_distance("rerope(window=8,leak=0.125,fraction=1)", 24, 0, 10);
}

TEST(DynamicNtk, HasThePublishedBase) {
  // Twice the trained length: the second pair of 32 turns by base^(-1/32).
  const double angle = std::acos(cosines("dynamic-ntk(trained=512,fraction=1)", 64, 1, 1023, {1022}).item<double>());
  EXPECT_NEAR(std::pow(angle, -32), 20452.23, 0.01);
  const double rope = std::acos(cosines("dynamic-ntk(trained=512,fraction=1)", 64, 1, 511, {510}).item<double>());
  EXPECT_NEAR(std::pow(rope, -32), 10000, 0.01);
}

TEST(DynamicNtk, GrowsFasterWithItsFactor) {
  // f T / L - (f - 1) = 3 at T = 2 L with f = 2: the lowest frequency is divided by that.
  const double slow =
      std::acos(cosines("dynamic-ntk(factor=2,trained=512,fraction=1)", 8, 3, 1023, {1000}).item<double>());
  EXPECT_NEAR(slow, 23 * 0.001 / 3, 1e-9);
}

TEST(FarRotations, RefuseWhatCannotBe) {
  EXPECT_NE(refusal("rerope(window=0)").find("window must be between 1 and"), std::string::npos);
  EXPECT_NE(refusal("rerope(leak=2)").find("leak must be between 0 and 1"), std::string::npos);
  EXPECT_NE(refusal("self-extend(group=0)").find("group must be between 1 and"), std::string::npos);
  EXPECT_THROW(cosines("rerope+rope", 64, 0, 30, {2}), UserError);
  EXPECT_THROW(cosines("dynamic-ntk+rope", 64, 0, 30, {2}), UserError);
}

}  // namespace
}  // namespace lengthwise
