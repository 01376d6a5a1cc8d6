// Resampling, percentiles and the paired test, each against what it must be.
#include <gtest/gtest.h>

#include <cmath>

#include "ranking/estimate.h"
#include "ranking/length_curve.h"
#include "ranking/share_sampler.h"
#include "ranking/sign_flip.h"

namespace lengthwise {
namespace {

/// Mean, standard deviation and the percentiles 2.5 and 97.5 of draws.
struct Draws {
  double mean = 0, deviation = 0;
  Estimate interval;
};

Draws draws_of(const Tally& tally, int count = 40'000) {
  const ShareSampler sampler(tally);
  Rng rng(3);
  std::vector<double> values;
  Draws draws;
  for (int i = 0; i < count; ++i) {
    values.push_back(sampler.draw(rng));
    draws.mean += values.back() / count;
  }
  for (const double value : values) draws.deviation += (value - draws.mean) * (value - draws.mean) / count;
  draws.deviation = std::sqrt(draws.deviation);
  draws.interval = percentile_interval(tally.share(), values);
  return draws;
}

TEST(ShareSampler, HasTheMomentsOfABetaDistribution) {
  for (const Tally& tally : {Tally{1, 0}, Tally{1, 1}, Tally{3, 1}, Tally{20, 0}, Tally{100, 100}, Tally{1000, 13},
                             Tally{10'000, 9'870}, Tally{1'000'000, 500'000}}) {
    const double a = static_cast<double>(tally.correct) + .5;
    const double b = static_cast<double>(tally.count - tally.correct) + .5;
    const double mean = a / (a + b);
    const double deviation = std::sqrt(mean * (1 - mean) / (a + b + 1));
    const Draws draws = draws_of(tally);
    EXPECT_NEAR(draws.mean, mean, .03 * deviation) << tally.correct << " of " << tally.count;
    EXPECT_NEAR(draws.deviation, deviation, .03 * deviation) << tally.correct << " of " << tally.count;
  }
}

TEST(ShareSampler, HasThePercentilesOfJeffreysInterval) {
  // Values of the beta distribution's quantile function (scipy.stats.beta.ppf).
  const Estimate none = draws_of({80, 0}).interval;
  EXPECT_EQ(none.low, 0) << "the share itself is inside";
  EXPECT_NEAR(none.high, 0.0308, .001);
  const Estimate few = draws_of({10, 1}).interval;
  EXPECT_NEAR(few.low, 0.0110, .002);
  EXPECT_NEAR(few.high, 0.3813, .008);
  const Estimate half = draws_of({100, 50}).interval;
  EXPECT_NEAR(half.low, 0.4032, .003);
  EXPECT_NEAR(half.high, 0.5968, .003);
}

/// How often the interval of a drawn experiment holds the true share: exactly, over all outcomes.
double coverage(int64_t count, double share) {
  double covered = 0;
  double weight = std::pow(1 - share, static_cast<double>(count));
  for (int64_t correct = 0; correct <= count; ++correct) {
    const Estimate interval = draws_of({count, correct}, 4000).interval;
    if (interval.low <= share && share <= interval.high) covered += weight;
    if (share < 1)
      weight *= static_cast<double>(count - correct) / static_cast<double>(correct + 1) * share / (1 - share);
  }
  return share < 1 ? covered : draws_of({count, count}, 4000).interval.high >= 1 ? 1 : 0;
}

TEST(ShareSampler, IntervalsHoldTheTruthAsOftenAsTheySay) {
  for (const int64_t count : {5, 20, 60}) {
    EXPECT_EQ(coverage(count, 0), 1) << "nothing can be right, and 0 is in the interval";
    EXPECT_EQ(coverage(count, 1), 1);
    double sum = 0;
    int shares = 0;
    for (double share = .005; share < 1; share += .0495) {
      const double covered = coverage(count, share);
      sum += covered;
      ++shares;
      EXPECT_GT(covered, .85) << share << " of " << count;
    }
    EXPECT_NEAR(sum / shares, .95, .02) << count;
  }
}

TEST(Percentiles, LieBetweenNeighbours) {
  std::vector<double> replicates;
  for (int i = 100; i >= 0; --i) replicates.push_back(i);
  const Estimate estimate = percentile_interval(50, replicates);
  EXPECT_DOUBLE_EQ(estimate.low, 2.5);
  EXPECT_DOUBLE_EQ(estimate.high, 97.5);
  EXPECT_EQ(percentile_interval(3, {}).low, 3);
  EXPECT_EQ(percentile_interval(3, {std::nan(""), 4}).high, 4);
  EXPECT_EQ(percentile_interval(3, {4, 5}).low, 3) << "an interval holds its value";
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

TEST(SignFlip, ManyDifferencesCostLittleAndSayTheSame) {
  // The sum of 4,000 equal differences is nearly normal: with 2,100 of them positive its z is 200 / sqrt(4000) = 3.16.
  std::vector<double> differences(4000, 1);
  for (size_t i = 0; i < 1900; ++i) differences[i] = -1;
  EXPECT_NEAR(sign_flip_test(differences, Rng(5)).p, std::erfc(200 / std::sqrt(4000.) / std::sqrt(2.)), .0008);
  // One that dwarfs all others decides with its sign.
  std::vector<double> dwarfed(100'001, 1e-6);
  for (size_t i = 0; i < dwarfed.size(); i += 2) dwarfed[i] = -1e-6;
  dwarfed[0] = 1;
  EXPECT_NEAR(sign_flip_test(dwarfed, Rng(5)).p, .5, .02);
}

Score run_with(std::vector<LengthCount> lengths) {
  Score score;
  score.train_limit = 1;
  score.lengths = std::move(lengths);
  return score;
}

TEST(LengthCurve, IsTheMeanOverSeeds) {
  const Score a = run_with({{1, true, 100, 100}, {2, false, 100, 80}, {3, false, 100, 20}});
  const Score b = run_with({{1, true, 100, 90}, {2, false, 100, 40}, {3, false, 100, 0}});
  const LengthCurve curve = length_curve({&a, &b}, 400, Rng(1));
  ASSERT_EQ(curve.lengths.size(), 3u);
  EXPECT_FALSE(curve.lengths[0].longer);
  EXPECT_TRUE(curve.lengths[1].longer);
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
  EXPECT_EQ(curve.lengths[0].accuracy.high, 1);
  EXPECT_LT(curve.lengths[0].accuracy.low, .95) << "ten of ten leave room for less";
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
