// Published numbers: buckets, slopes, frequencies.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "positional/formulas.h"
#include "positional/named.h"
#include "positional/registry.h"

namespace lengthwise {
namespace {

TEST(T5Buckets, BeginWhereTheReleasedCodeBeginsThem) {
  const std::vector<int64_t> first{16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113};
  for (int64_t m = 0; m < 16; ++m) EXPECT_EQ(t5_bucket(m, 32, 128), m);
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(t5_bucket(first[i], 32, 128), 16 + static_cast<int64_t>(i)) << first[i];
    EXPECT_EQ(t5_bucket(first[i] - 1, 32, 128), 15 + static_cast<int64_t>(i)) << first[i] - 1;
  }
  EXPECT_EQ(t5_bucket(100000, 32, 128), 31);
}

TEST(AlibiSlopes, FollowTheReferenceRule) {
  const std::vector<double> eight{0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625};
  EXPECT_EQ(alibi_slopes(8), eight);
  std::vector<double> twelve = eight;
  for (const double exponent : {0.5, 1.5, 2.5, 3.5}) twelve.push_back(std::exp2(-exponent));
  const std::vector<double> slopes = alibi_slopes(12);
  ASSERT_EQ(slopes.size(), 12);
  for (size_t h = 0; h < 12; ++h) EXPECT_NEAR(slopes[h], twelve[h], 1e-12);
  EXPECT_EQ(alibi_slopes(1), std::vector<double>{1.0 / 256});
}

TEST(Frequencies, AreGeometric) {
  const at::Tensor sixteen = geometric_frequencies(16, 10000);
  const std::vector<double> known{1, 0.31622777, 0.1, 0.031622777, 0.01, 0.0031622777, 0.001, 0.00031622777};
  for (int64_t j = 0; j < 8; ++j) EXPECT_NEAR(sixteen[j].item<double>(), known[static_cast<size_t>(j)], 1e-8);
  const at::Tensor wavelength = 2 * M_PI / geometric_frequencies(64, 10000);
  EXPECT_NEAR(wavelength[0].item<double>(), 6.28, 0.01);
  EXPECT_NEAR(wavelength[8].item<double>(), 62.83, 0.01);
  EXPECT_NEAR(wavelength[16].item<double>(), 628.3, 0.1);
  EXPECT_NEAR(wavelength[24].item<double>(), 6283, 1);
  EXPECT_NEAR(wavelength[31].item<double>(), 47117, 1);
}

TEST(Sinusoids, StandInTwoHalves) {
  const at::Tensor p = sinusoids(at::tensor({int64_t{0}, int64_t{5}}, at::kLong), 8);
  EXPECT_NEAR(p[0][0].item<double>(), 0, 1e-15);
  EXPECT_NEAR(p[0][4].item<double>(), 1, 1e-15);
  EXPECT_NEAR(p[1][1].item<double>(), std::sin(5 * 0.1), 1e-12);
  EXPECT_NEAR(p[1][5].item<double>(), std::cos(5 * 0.1), 1e-12);
}

std::unique_ptr<Encoding> made(const std::string& text, const EncodingShape& shape, Parameters& parameters) {
  return make_encoding(read_encoding(text), shape, {parameters, "encoding."});
}

Rotation rotation(const Encoding& encoding, const at::Tensor& positions) {
  EncodingContext context;
  context.positions = positions;
  context.distances = 1;
  return encoding.layer(0, context).query;
}

TEST(Rotation, ScoresDependOnTheDistanceAsPublished) {
  // Mean cosine over the 32 planes of a head of 64 at some offsets.
  Parameters parameters;
  const auto encoding = made("rope(fraction=1)", {1, 1, 64, 64, at::kDouble}, parameters);
  const std::vector<std::pair<int64_t, double>> known{
      {0, 1}, {1, .9662}, {2, .8845}, {3, .7996}, {10, .6579}, {44, .5984}, {100, .5586}, {355, .2246}, {1000, .2789}};
  for (const auto& [offset, score] : known) {
    const Rotation turn = rotation(*encoding, at::tensor({int64_t{7}, 7 + offset}, at::kLong));
    const at::Tensor cosines = turn.cos[0] * turn.cos[1] + turn.sin[0] * turn.sin[1];
    EXPECT_NEAR(cosines.mean().item<double>(), score, 5e-5) << offset;
  }
}

TEST(Rotation, TakesAQuarterOfTheHeadByDefault) {
  Parameters parameters;
  const auto encoding = made("rope", {1, 1, 64, 64, at::kFloat}, parameters);
  EXPECT_EQ(rotation(*encoding, at::arange(3, at::kLong)).cos.size(1), 8);
}

TEST(LearnedPositions, RefuseWhatIsPastTheTable) {
  Parameters parameters;
  const auto encoding = made("learned(positions=10)", {1, 1, 4, 4, at::kFloat}, parameters);
  parameters.allocate(at::kFloat, Rng(1));
  EXPECT_EQ(encoding->position_limit(), 10);
  EXPECT_EQ(encoding->embedding_addition(at::arange(10, at::kLong)).size(0), 10);
  EXPECT_THROW(encoding->embedding_addition(at::arange(11, at::kLong)), UserError);
}

TEST(Registry, SuggestsTheNearestName) {
  try {
    find_encoding("alibbi");
    FAIL() << "an unknown name was accepted";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'alibi'"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace lengthwise
