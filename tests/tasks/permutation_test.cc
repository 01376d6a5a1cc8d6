#include "tasks/permutation.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

namespace lengthwise {
namespace {

std::vector<uint64_t> order_of(uint64_t size, const Rng& rng) {
  std::vector<uint64_t> order;
  for (uint64_t i = 0; i < size; ++i) order.push_back(permuted(i, size, rng));
  return order;
}

TEST(Permutation, HasEachNumberOnce) {
  for (const uint64_t size : {1, 2, 3, 4, 5, 16, 17, 100, 4096, 4097, 6006, 6052}) {
    for (const uint64_t seed : {1, 2, 3}) {
      const std::vector<uint64_t> order = order_of(size, Rng(seed));
      const std::set<uint64_t> numbers(order.begin(), order.end());
      EXPECT_EQ(numbers.size(), size);
      EXPECT_EQ(*numbers.rbegin(), size - 1);
    }
  }
}

TEST(Permutation, DependsOnTheStreamAndItsIndex) {
  EXPECT_EQ(order_of(1000, Rng(1)), order_of(1000, Rng(1)));
  EXPECT_NE(order_of(1000, Rng(1)), order_of(1000, Rng(2)));
  EXPECT_NE(order_of(1000, Rng(1).at(0)), order_of(1000, Rng(1).at(1)));
}

TEST(Permutation, TakesEveryOrderOfFourAboutAsOften) {
  std::map<std::vector<uint64_t>, int> seen;
  constexpr int kDraws = 24'000;
  for (uint64_t seed = 0; seed < kDraws; ++seed) ++seen[order_of(4, Rng(seed))];
  EXPECT_EQ(seen.size(), 24u);
  // A binomial count of mean 1000 and deviation 31; five of them.
  for (const auto& [order, count] : seen) EXPECT_NEAR(count, kDraws / 24, 155);
}

TEST(Permutation, RefusesPlacesOutside) {
  EXPECT_THROW(permuted(5, 5, Rng(1)), std::logic_error);
}

}  // namespace
}  // namespace lengthwise
