#include "batch/assemble.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>

namespace lengthwise {
namespace {

/// Sequences of tokens 10 i + t; sequence i has 3 + i tokens of which 1 + i % 2 are the prompt.
TokenSet numbered(int64_t count) {
  TokenSet set;
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t t = 0; t < 3 + i; ++t) set.tokens.push_back(static_cast<int32_t>(10 * i + t));
    set.offsets.push_back(static_cast<int64_t>(set.tokens.size()));
    set.prompt_tokens.push_back(static_cast<int32_t>(1 + i % 2));
    set.length.push_back(1);
    set.category.push_back(0);
  }
  return set;
}

std::vector<int64_t> list(const at::Tensor& tensor) {
  return {tensor.const_data_ptr<int64_t>(), tensor.const_data_ptr<int64_t>() + tensor.numel()};
}

using Numbers = std::vector<int64_t>;

TEST(MakeBatch, PacksInputsAndPredictsTargetsOnly) {
  const Batch batch = make_batch(numbered(4), Numbers{2, 1});
  EXPECT_EQ(list(batch.tokens), (Numbers{20, 21, 22, 23, 10, 11, 12}));
  EXPECT_EQ(list(batch.offsets), (Numbers{0, 4, 7}));
  EXPECT_EQ(list(batch.positions), (Numbers{0, 1, 2, 3, 0, 1, 2}));
  EXPECT_EQ(list(batch.loss_rows), (Numbers{0, 1, 2, 3, 5, 6}));
  EXPECT_EQ(list(batch.targets), (Numbers{21, 22, 23, 24, 12, 13}));
  EXPECT_EQ(list(batch.target_offsets), (Numbers{0, 4, 6}));
  EXPECT_EQ(batch.longest, 4);
  EXPECT_TRUE(batch.from_zero);
}

TEST(MakeBatch, StartsPositionsWhereItIsTold) {
  const Batch batch = make_batch(numbered(2), Numbers{0, 1}, Numbers{100, 7});
  EXPECT_EQ(list(batch.positions), (Numbers{100, 101, 7, 8, 9}));
  EXPECT_FALSE(batch.from_zero);
}

TEST(EpochOrder, VisitsEveryExampleOnceAnEpochAndDependsOnTheSeed) {
  EpochOrder order(10, 4, 1);
  Numbers seen;
  for (int64_t step = 0; step < 5; ++step) {
    const auto batch = order.examples_of(step);
    seen.insert(seen.end(), batch.begin(), batch.end());
  }
  for (int64_t epoch = 0; epoch < 2; ++epoch) {
    EXPECT_EQ(std::set<int64_t>(seen.begin() + 10 * epoch, seen.begin() + 10 * (epoch + 1)).size(), 10U);
  }
  EXPECT_NE(Numbers(seen.begin(), seen.begin() + 10), Numbers(seen.begin() + 10, seen.end()));
  // Any step can be asked for at once, as after a resume.
  EpochOrder again(10, 4, 1);
  const auto third = again.examples_of(3);
  EXPECT_EQ(Numbers(third.begin(), third.end()), Numbers(seen.begin() + 12, seen.begin() + 16));
  EpochOrder other(10, 4, 2);
  const auto first = other.examples_of(0);
  EXPECT_NE(Numbers(first.begin(), first.end()), Numbers(seen.begin(), seen.begin() + 4));
}

TEST(CutByTokens, KeepsTheOrderAndTheBudget) {
  const TokenSet set = numbered(5);  // inputs 2 3 4 5 6
  const auto runs = cut_by_tokens(set, Numbers{0, 1, 2, 3, 4}, 6);
  EXPECT_EQ(runs, (std::vector<Numbers>{{0, 1}, {2}, {3}, {4}}));
  EXPECT_EQ(cut_by_tokens(set, Numbers{4}, 1), (std::vector<Numbers>{{4}}));
}

}  // namespace
}  // namespace lengthwise
