// Resampling, percentiles and the paired test, each against what it must be.
#include <gtest/gtest.h>

#include <cmath>

#include "ranking/binomial.h"
#include "ranking/estimate.h"
#include "ranking/length_curve.h"
#include "ranking/sign_flip.h"

namespace lengthwise {
namespace {

TEST(Binomial, IsCertainWhereEverythingOrNothingIsRight) {
  Rng rng(1);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(BinomialSampler(50, 0).draw(rng), 0);
    EXPECT_EQ(BinomialSampler(50, 50).draw(rng), 50);
    EXPECT_EQ(BinomialSampler(0, 0).draw(rng), 0);
  }
}

TEST(Binomial, OfThreeHasItsFourProbabilities) {
  const BinomialSampler sampler(3, 1);
  Rng rng(2);
  std::vector<int> seen(4);
  constexpr int kDraws = 100'000;
  for (int i = 0; i < kDraws; ++i) ++seen[static_cast<size_t>(sampler.draw(rng))];
  const double expected[] = {8 / 27., 12 / 27., 6 / 27., 1 / 27.};
  for (size_t k = 0; k < 4; ++k) EXPECT_NEAR(seen[k] / double{kDraws}, expected[k], 0.006) << k;
}

TEST(Binomial, HasTheMeanAndSpreadOfManyExamples) {
  const BinomialSampler sampler(10'000, 9'870);
  Rng rng(3);
  double sum = 0, squares = 0;
  constexpr int kDraws = 50'000;
  for (int i = 0; i < kDraws; ++i) {
    const auto draw = static_cast<double>(sampler.draw(rng));
    ASSERT_LE(draw, 10'000);
    sum += draw;
    squares += draw * draw;
  }
  const double mean = sum / kDraws;
  EXPECT_NEAR(mean, 9870, 0.3);
  EXPECT_NEAR(std::sqrt(squares / kDraws - mean * mean), std::sqrt(10'000 * .987 * .013), 0.15);
}

TEST(Percentiles, LieBetweenNeighbours) {
  std::vector<double> replicates;
  for (int i = 100; i >= 0; --i) replicates.push_back(i);
  const Estimate estimate = percentile_interval(50, replicates);
  EXPECT_DOUBLE_EQ(estimate.low, 2.5);
  EXPECT_DOUBLE_EQ(estimate.high, 97.5);
  EXPECT_EQ(percentile_interval(3, {}).low, 3);
  EXPECT_EQ(percentile_interval(3, {std::nan(""), 4}).high, 4);
}

TEST(Percentiles, OfLengthsAreLengths) {
  const LengthEstimate estimate = percentile_interval(int64_t{9}, {8, 9, std::nullopt, 9});
  EXPECT_EQ(estimate.low, 8);
  EXPECT_EQ(estimate.high, std::nullopt) << "never is later than any length";
}

double p_of(const std::vector<double>& differences) {
  return sign_flip_test(differences, Rng(1)).p;
}

TEST(SignFlip, CountsEveryPattern) {
  EXPECT_DOUBLE_EQ(p_of({1, 1, 1}), 2 / 8.);
  EXPECT_DOUBLE_EQ(p_of({.1, .2, .3, .4, .5, .6}), 2 / 64.);
  EXPECT_DOUBLE_EQ(p_of({-.1, -.2, -.3}), 2 / 8.) << "two-sided";
  EXPECT_DOUBLE_EQ(p_of({3, -1}), 1);
  EXPECT_DOUBLE_EQ(p_of({3, 2, -1}), 4 / 8.) << "sums of at least 4: 6 and 4, and their negatives";
  EXPECT_DOUBLE_EQ(p_of({0, 0, 0}), 1);
}

TEST(SignFlip, SaysWhatItIsMadeOf) {
  const SignFlipTest test = sign_flip_test(std::vector<double>{0, .2, .1}, Rng(1));
  EXPECT_EQ(test.queries, 3);
  EXPECT_EQ(test.nonzero, 2);
  EXPECT_TRUE(test.exact);
  EXPECT_DOUBLE_EQ(test.smallest_p, .5);
}

TEST(SignFlip, CountsEqualSumsThatRoundDifferently) {
  // .3 - .1 - .2 is not 0 in doubles; its mirror must count all the same.
  EXPECT_DOUBLE_EQ(p_of({.1, .2, .3}), p_of({1, 2, 3}));
  EXPECT_DOUBLE_EQ(p_of({.1, .2, -.3}), 1);
}

TEST(SignFlip, AgreesWithAPlainCountOverAllPatterns) {
  Rng rng(7);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<double> differences;
    for (int i = 0; i < 9; ++i) differences.push_back(static_cast<double>(rng.between(-20, 20)));
    double observed = 0;
    for (const double difference : differences) observed += difference;
    int hits = 0;
    for (unsigned pattern = 0; pattern < 512; ++pattern) {
      double sum = 0;
      for (size_t i = 0; i < 9; ++i) sum += (pattern >> i) & 1 ? differences[i] : -differences[i];
      hits += std::abs(sum) >= std::abs(observed) ? 1 : 0;
    }
    EXPECT_DOUBLE_EQ(p_of(differences), hits / 512.);
  }
}

TEST(SignFlip, DrawsPatternsWhereThereAreTooMany) {
  std::vector<double> differences(40);
  for (size_t i = 0; i < differences.size(); ++i) differences[i] = i % 4 == 0 ? -1 : 1;
  const SignFlipTest test = sign_flip_test(differences, Rng(5));
  EXPECT_FALSE(test.exact);
  // P(|sum of 40 signs| >= 20) of the binomial distribution.
  EXPECT_NEAR(test.p, 0.00222, 0.0012);
  EXPECT_EQ(test.p, sign_flip_test(differences, Rng(5)).p);
}

Score run_with(std::vector<LengthCount> lengths) {
  Score score;
  score.lengths = std::move(lengths);
  return score;
}

TEST(LengthCurve, IsTheMeanOverSeeds) {
  const Score a = run_with({{1, true, 100, 100}, {2, false, 100, 80}, {3, false, 100, 20}});
  const Score b = run_with({{1, true, 100, 90}, {2, false, 100, 40}, {3, false, 100, 0}});
  const LengthCurve curve = length_curve({&a, &b}, 400, Rng(1));
  ASSERT_EQ(curve.lengths.size(), 3u);
  EXPECT_TRUE(curve.lengths[0].trained);
  EXPECT_FALSE(curve.lengths[1].trained);
  EXPECT_DOUBLE_EQ(curve.lengths[1].accuracy.value, .6);
  EXPECT_EQ(curve.lengths[1].count, 200);
  // Both seeds may be the same one in a resample, so the interval reaches each of them, and beyond by the examples.
  EXPECT_LE(curve.lengths[1].accuracy.low, .40);
  EXPECT_GE(curve.lengths[1].accuracy.high, .80);
  EXPECT_EQ(curve.under_half.value, 3);
  EXPECT_EQ(curve.under_half.low, 2);
  EXPECT_EQ(curve.under_half.high, 3);
}

TEST(LengthCurve, NeverFallsWhereItStaysAbove) {
  const Score a = run_with({{4, false, 10, 10}, {5, false, 10, 10}});
  const LengthCurve curve = length_curve({&a}, 50, Rng(1));
  EXPECT_EQ(curve.under_half.value, std::nullopt);
  EXPECT_EQ(curve.under_half.low, std::nullopt);
  EXPECT_EQ(curve.lengths[0].accuracy.low, 1);
}

TEST(LengthCurve, PutsBothSetsOfALengthTogether) {
  const Score a = run_with({{4, true, 10, 10}, {4, false, 10, 0}});
  const LengthCurve curve = length_curve({&a}, 0, Rng(1));
  ASSERT_EQ(curve.lengths.size(), 1u);
  EXPECT_DOUBLE_EQ(curve.lengths[0].accuracy.value, .5);
  EXPECT_EQ(curve.under_half.value, std::nullopt) << "one half is not under one half";
}

}  // namespace
}  // namespace lengthwise
