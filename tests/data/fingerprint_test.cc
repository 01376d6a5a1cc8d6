#include "data/fingerprint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace lengthwise {
namespace {

DataConfig small_sort() {
  DataConfig config;
  config.task = "sort";
  config.train_count = 3000;
  config.validation_count = 100;
  config.test_count = 100;
  return config;
}

TEST(DataFingerprint, DoesNotDependOnTheNumberOfThreads) {
  EXPECT_EQ(data_fingerprint(build_data_set(small_sort(), 1)), data_fingerprint(build_data_set(small_sort(), 4)));
}

TEST(DataFingerprint, IsTheSameOnEveryMachineAndInEveryVersion) {
  DataSet set;
  set.vocabulary.add("a b.");
  set.train = {.tokens = {1, 3, 2, 4, 0, 1, 4, 2, 3, 0},
               .offsets = {0, 5, 10},
               .prompt_tokens = {3, 3},
               .length = {1, 2},
               .category = {0, 1},
               .category_names = {"1", "2"},
               .text = {},
               .window_tokens = {}};
  EXPECT_EQ(data_fingerprint(set), "585dc1594efbb388");
}

TEST(DataFingerprint, TellsEverythingThatDecidesAResult) {
  const DataSet original = build_data_set(small_sort(), 1);
  std::set<std::string> seen{data_fingerprint(original)};
  const auto expect_new = [&](const char* what, auto&& change) {
    DataSet changed = original;
    change(changed);
    EXPECT_TRUE(seen.insert(data_fingerprint(changed)).second) << what;
  };
  expect_new("a token of training", [](DataSet& set) { set.train.tokens[7] ^= 1; });
  expect_new("a token of validation", [](DataSet& set) { set.validation.tokens[7] ^= 1; });
  expect_new("the last token of the test", [](DataSet& set) { set.test.tokens.back() ^= 1; });
  expect_new("where sequences end", [](DataSet& set) { ++set.train.offsets[3]; });
  expect_new("where a prompt ends", [](DataSet& set) { ++set.test.prompt_tokens[0]; });
  expect_new("a length", [](DataSet& set) { ++set.test.length[5]; });
  expect_new("a category", [](DataSet& set) { set.test.category[0] = set.test.category.back(); });
  expect_new("the name of a category", [](DataSet& set) { set.test.category_names[0] = "other"; });
  expect_new("a word", [](DataSet& set) { set.vocabulary.add("another"); });
  expect_new("the frame", [](DataSet& set) { set.frame.bos = false; });
  expect_new("an example less", [](DataSet& set) { set.validation.keep_only(std::vector<int64_t>{0, 1, 2}); });
  expect_new("validation and test exchanged", [](DataSet& set) { std::swap(set.validation, set.test); });
  expect_new("the order of examples", [](DataSet& set) {
    const auto first = set.train.tokens.begin();
    std::rotate(first, first + set.train.offsets[1], first + set.train.offsets[2]);
  });
}

TEST(DataFingerprint, ForgetsCategoriesThatNoExampleHas) {
  DataSet kept, alone;
  kept.test = {.tokens = {1, 2, 0, 1, 1, 2, 0},
               .offsets = {0, 3, 7},
               .prompt_tokens = {2, 3},
               .length = {1, 2},
               .category = {0, 1},
               .category_names = {"short", "long"},
               .text = {},
               .window_tokens = {}};
  kept.test.keep_only(std::vector<int64_t>{1});
  alone.test = {.tokens = {1, 1, 2, 0},
                .offsets = {0, 4},
                .prompt_tokens = {3},
                .length = {2},
                .category = {0},
                .category_names = {"long"},
                .text = {},
                .window_tokens = {}};
  EXPECT_EQ(data_fingerprint(kept), data_fingerprint(alone));
}

}  // namespace
}  // namespace lengthwise
