#include "data/token_set.h"

#include <gtest/gtest.h>

#include "data/data_set.h"
#include "tasks/registry.h"
#include "tests/data/temporary_folder.h"

namespace lengthwise {
namespace {

DataConfig small(const std::string& task) {
  DataConfig config;
  config.task = task;
  config.train_count = 3000;
  config.test_count = 1500;
  return config;
}

/// Numbered sentences; number `bad` and those after it have a word nobody knows.
class Sentences : public ExampleSource {
 public:
  explicit Sentences(int64_t bad) : bad_(bad) {}
  int64_t count(Split) const override { return 10'000; }
  void get(Split, int64_t index, Example& out) const override {
    out.prompt = index >= bad_ ? fmt::format("odd{} ?", index) : "say it ?";
    out.target = "it.";
    out.length = index + 1;
    out.category = std::to_string(index % 3);
  }

 private:
  int64_t bad_;
};

TEST(TokenSet, DoesNotDependOnTheNumberOfThreads) {
  for (const auto& task : tasks()) {
    const DataConfig config = small(task->info().name);
    const DataSet one = build_data_set(config, 1);
    for (const int threads : {2, 3, 7}) {
      const DataSet many = build_data_set(config, threads);
      EXPECT_EQ(one.train, many.train) << task->info().name;
      EXPECT_EQ(one.validation, many.validation) << task->info().name;
      EXPECT_EQ(one.test, many.test) << task->info().name;
    }
  }
}

TEST(TokenSet, HoldsTheExamplesOfItsSource) {
  const DataConfig config = small("addition");
  const auto source = make_source(resolve(config));
  const DataSet set = build_data_set(config, *source, 2);
  Example example;
  for (const Split split : {Split::train, Split::validation, Split::test}) {
    const TokenSet& tokens = set.of(split);
    ASSERT_EQ(tokens.size(), source->count(split));
    ASSERT_EQ(tokens.offsets.size(), static_cast<size_t>(tokens.size()) + 1);
    ASSERT_EQ(tokens.offsets.back(), static_cast<int64_t>(tokens.tokens.size()));
    for (int64_t i = 0; i < tokens.size(); ++i) {
      source->get(split, i, example);
      EXPECT_EQ(set.vocabulary.decode(tokens.prompt(i)), example.prompt);
      EXPECT_EQ(set.vocabulary.decode(tokens.target(i)), example.target);
      EXPECT_EQ(tokens.length[static_cast<size_t>(i)], example.length);
      EXPECT_EQ(tokens.category_names[static_cast<size_t>(tokens.category[static_cast<size_t>(i)])], example.category);
    }
  }
}

TEST(TokenSet, IsLaidOutByTheFrame) {
  const Sentences source(20'000);
  Vocabulary vocabulary;
  vocabulary.add("say it ? it.");  // 3 4 5 6
  const auto first = [&](Frame frame) {
    const TokenSet set = build_token_set(source, Split::train, vocabulary, frame, 1);
    const auto sequence = set.sequence(0);
    return std::pair(std::vector<int32_t>(sequence.begin(), sequence.end()), set.prompt_tokens[0]);
  };
  constexpr int32_t bos = Vocabulary::kBos, sep = Vocabulary::kSep, eos = Vocabulary::kEos;
  EXPECT_EQ(first({true, true}), std::pair(std::vector<int32_t>{bos, 3, 4, 5, sep, 4, 6, eos}, 5));
  EXPECT_EQ(first({false, false}), std::pair(std::vector<int32_t>{3, 4, 5, 4, 6, eos}, 3));
  EXPECT_EQ(first({true, false}), std::pair(std::vector<int32_t>{bos, 3, 4, 5, 4, 6, eos}, 4));
}

TEST(TokenSet, ReportsTheFirstBadExampleWithAnyNumberOfThreads) {
  Vocabulary vocabulary;
  vocabulary.add("say it ? it.");
  for (const int64_t bad : {0, 1, 1023, 1024, 5000, 9999}) {
    const Sentences source(bad);
    for (const int threads : {1, 2, 5}) {
      const std::string reason = mistake_of([&] { build_token_set(source, Split::train, vocabulary, {}, threads); });
      EXPECT_EQ(reason.substr(0, reason.find(" in ")), fmt::format("the word 'odd{}'", bad));
    }
  }
}

TEST(TokenSet, WastesLittleMemory) {
  for (const auto& task : tasks()) {
    DataConfig config;
    config.task = task->info().name;
    config.train_count = 20'000;
    const DataSet set = build_data_set(config, 1);
    for (const TokenSet* tokens : {&set.train, &set.test}) {
      EXPECT_LE(static_cast<double>(tokens->tokens.capacity()), 1.15 * static_cast<double>(tokens->tokens.size()))
          << task->info().name;
    }
  }
}

TEST(TokenSet, KeepsOnlyWhatItIsTold) {
  const Sentences source(20'000);
  Vocabulary vocabulary;
  vocabulary.add("say it ? it.");
  const TokenSet all = build_token_set(source, Split::train, vocabulary, {}, 1);
  TokenSet some = all;
  const std::vector<int64_t> kept{0, 1, 5, 6, 4000, 9999};
  some.keep_only(kept);
  ASSERT_EQ(some.size(), 6);
  for (size_t i = 0; i < kept.size(); ++i) {
    const auto before = all.sequence(kept[i]);
    const auto after = some.sequence(static_cast<int64_t>(i));
    EXPECT_TRUE(std::equal(before.begin(), before.end(), after.begin(), after.end()));
    EXPECT_EQ(some.length[i], kept[i] + 1);
    EXPECT_EQ(some.category[i], all.category[static_cast<size_t>(kept[i])]);
    EXPECT_EQ(some.prompt_tokens[i], all.prompt_tokens[static_cast<size_t>(kept[i])]);
  }
  some = all;
  some.keep_only(std::vector<int64_t>{});
  EXPECT_EQ(some.size(), 0);
  EXPECT_TRUE(some.tokens.empty());
  EXPECT_EQ(some.offsets, std::vector<int64_t>{0});
}

}  // namespace
}  // namespace lengthwise
