#include "core/rng.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <string>
#include <vector>

namespace lengthwise {
namespace {

using Block = std::array<uint32_t, 4>;

/// Pearson's statistic of counts that should all be equal.
double chi_square(const std::vector<int64_t>& counts) {
  const double expected = static_cast<double>(std::accumulate(counts.begin(), counts.end(), int64_t{0})) /
                          static_cast<double>(counts.size());
  double sum = 0;
  for (const int64_t count : counts) sum += std::pow(static_cast<double>(count) - expected, 2) / expected;
  return sum;
}

/// Five standard deviations above the mean of the distribution: a right generator fails once in millions of seeds, and
/// these seeds are fixed.
double chi_square_limit(size_t cells) {
  const auto freedom = static_cast<double>(cells - 1);
  return freedom + 5 * std::sqrt(2 * freedom);
}

TEST(Philox, MatchesThePublishedVectors) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Rng, IsPhiloxOfKeyIndexAndBlock) {
  const uint64_t key = 0x299f31d0a4093822;
  Rng rng = Rng(key).at(0x0370734413198a2e);
  for (uint32_t block = 0; block < 3; ++block) {
    const Block expected = philox4x32({block, 0, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0});
    for (const uint32_t number : expected) EXPECT_EQ(rng.next(), number);
  }
}

TEST(Rng, BlocksAreLeftOutAsIfTheyHadBeenDrawn) {
  Rng drawn = Rng(7).stream("a");
  Rng skipped = drawn;
  for (int number = 0; number < 12; ++number) drawn.next();
  skipped.skip_blocks(3);
  EXPECT_EQ(skipped.next64(), drawn.next64());
  EXPECT_THROW(skipped.skip_blocks(1), std::logic_error);
}

TEST(Rng, StreamDependsOnNameKeyAndIndexAlone) {
  Rng fresh(7);
  Rng drawn(7);
  for (int i = 0; i < 5; ++i) drawn.next();
  EXPECT_EQ(fresh.stream("train").next64(), drawn.stream("train").next64());
  EXPECT_EQ(fresh.at(3).next64(), drawn.at(3).next64());

  std::set<uint64_t> first;
  for (const char* name : {"train", "test", "tra", "in", "", " "}) {
    for (uint64_t seed = 0; seed < 8; ++seed) {
      for (uint64_t index = 0; index < 8; ++index) first.insert(Rng(seed).at(index).stream(name).next64());
    }
  }
  EXPECT_EQ(first.size(), 6u * 8u * 8u);
}

TEST(Rng, NeighbouringStreamsAreUncorrelated) {
  for (const bool by_index : {false, true}) {
    const Rng root(12345);
    Rng a = by_index ? root.at(0) : root.stream("a");
    Rng b = by_index ? root.at(1) : root.stream("b");
    constexpr int kDraws = 100'000;
    double sum = 0;
    for (int i = 0; i < kDraws; ++i) sum += (a.uniform() - 0.5) * (b.uniform() - 0.5);
    // Each product has mean 0 and standard deviation 1/12.
    EXPECT_LT(std::abs(sum), 5 * std::sqrt(kDraws) / 12);
  }
}

TEST(Rng, BelowIsUniform) {
  for (const uint64_t bound : {2ull, 3ull, 10ull, 100ull, 6'052ull}) {
    Rng rng = Rng(99).stream("below").at(bound);
    std::vector<int64_t> counts(bound);
    for (uint64_t i = 0; i < 100 * bound + 10'000; ++i) ++counts.at(rng.below(bound));
    EXPECT_LT(chi_square(counts), chi_square_limit(counts.size())) << "bound " << bound;
  }
}

TEST(Rng, BelowHandlesEveryBound) {
  Rng rng(5);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(rng.below(1), 0u);
  for (const uint64_t bound : {uint64_t{0xffffffff}, uint64_t{0x100000000}, uint64_t{0x100000001}, UINT64_MAX}) {
    bool upper_half = false;
    for (int i = 0; i < 200; ++i) {
      const uint64_t value = rng.below(bound);
      ASSERT_LT(value, bound);
      upper_half = upper_half || value > bound / 2;
    }
    EXPECT_TRUE(upper_half) << bound;
  }
  EXPECT_THROW(rng.below(0), std::logic_error);
}

TEST(Rng, BelowHasNoBiasTowardsSmallNumbers) {
  // Three quarters of 2^32: taking a remainder would give the lower third twice the weight of the rest.
  constexpr uint64_t kBound = 3ull << 30;
  Rng rng(11);
  std::vector<int64_t> thirds(3);
  for (int i = 0; i < 30'000; ++i) ++thirds[rng.below(kBound) / (kBound / 3)];
  EXPECT_LT(chi_square(thirds), chi_square_limit(thirds.size()));
}

TEST(Rng, BetweenIncludesBothEnds) {
  Rng rng(3);
  std::set<int64_t> seen;
  for (int i = 0; i < 500; ++i) seen.insert(rng.between(-2, 2));
  EXPECT_EQ(seen, (std::set<int64_t>{-2, -1, 0, 1, 2}));
  EXPECT_EQ(rng.between(9, 9), 9);
  EXPECT_THROW(rng.between(2, 1), std::logic_error);
}

TEST(Rng, UniformFillsTheUnitInterval) {
  Rng rng(8);
  std::vector<int64_t> counts(64);
  for (int i = 0; i < 64'000; ++i) {
    const double value = rng.uniform();
    ASSERT_GE(value, 0);
    ASSERT_LT(value, 1);
    ++counts[static_cast<size_t>(value * 64)];
  }
  EXPECT_LT(chi_square(counts), chi_square_limit(counts.size()));
}

TEST(Rng, CoinIsFair) {
  Rng rng(21);
  std::vector<int64_t> sides(2);
  for (int i = 0; i < 100'000; ++i) ++sides[rng.coin() ? 1 : 0];
  EXPECT_LT(chi_square(sides), chi_square_limit(2));
}

TEST(Rng, ShuffleReachesEveryOrderEqually) {
  Rng rng(17);
  std::vector<int64_t> counts(24);
  for (int i = 0; i < 48'000; ++i) {
    std::string letters = "abcd";
    rng.shuffle(std::span<char>(letters));
    std::string order = "abcd";
    size_t rank = 0;
    while (order != letters) {
      ASSERT_TRUE(std::next_permutation(order.begin(), order.end()));
      ++rank;
    }
    ++counts.at(rank);
  }
  EXPECT_LT(chi_square(counts), chi_square_limit(counts.size()));
}

/// Data sets are promised to be the same for ever; these numbers must not change.
TEST(Rng, NumbersAreFixed) {
  EXPECT_EQ(stable_hash(""), mix64(0xcbf29ce484222325ull));
  // 64-bit FNV-1a of "a" is af63dc4c8601ec8c.
  EXPECT_EQ(stable_hash("a"), mix64(0xaf63dc4c8601ec8cull));
  EXPECT_NE(stable_hash("ab"), stable_hash("ba"));
  EXPECT_EQ(mix64(0), 0u);
  Rng rng(0);
  EXPECT_EQ(rng.next(), 0x6627e8d5u);
  EXPECT_EQ(rng.next64(), 0xbc57ac4ce169c58dull);
}

}  // namespace
}  // namespace lengthwise
