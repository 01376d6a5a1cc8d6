#include "data/statistics.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "data/jsonl.h"
#include "data/prompt_index.h"
#include "tests/data/temporary_folder.h"

namespace lengthwise {
namespace {

std::string line(const std::string& prompt, const std::string& target, int64_t length) {
  std::string text;
  append_jsonl(text, {prompt, target, length, std::to_string(length)});
  return text;
}

void write_data(const TemporaryFolder& folder) {
  folder.write("train.jsonl", line("a b", "c", 1) + line("a b", "d", 1) + line("a b c", "d d", 2));
  folder.write("validation.jsonl", line("a b", "c", 1) + line("b a", "c", 1));
  folder.write("test.jsonl", line("a b c", "new words", 3) + line("a b c", "c", 3) + line("new", "c", 4));
}

DataConfig config_of(const TemporaryFolder& folder) {
  DataConfig config;
  config.data = folder.path().string();
  return config;
}

TEST(Statistics, CountWhatIsThere) {
  const TemporaryFolder folder;
  write_data(folder);
  const DataStatistics statistics = measure(build_data_set(config_of(folder)));
  EXPECT_EQ(statistics.vocabulary, 3 + 6);
  EXPECT_EQ(statistics.train.examples, 3);
  EXPECT_EQ(statistics.train.tokens, 6 + 6 + 8);
  EXPECT_DOUBLE_EQ(statistics.train.mean_prompt_tokens, (4 + 4 + 5) / 3.0);
  EXPECT_EQ(statistics.train.max_prompt_tokens, 5);
  EXPECT_DOUBLE_EQ(statistics.train.mean_target_tokens, (2 + 2 + 3) / 3.0);
  EXPECT_EQ(statistics.train.max_target_tokens, 3);
  EXPECT_EQ(statistics.train.by_length, (std::map<int64_t, int64_t>{{1, 2}, {2, 1}}));
  EXPECT_EQ(statistics.train.distinct_prompts, 2);
  EXPECT_EQ(statistics.train.prompts_in_training, 3);
  EXPECT_EQ(statistics.train.words_not_in_training, 0);
  EXPECT_EQ(statistics.validation.prompts_in_training, 1);
  EXPECT_EQ(statistics.validation.distinct_prompts, 2);
  EXPECT_EQ(statistics.test.prompts_in_training, 2);
  EXPECT_EQ(statistics.test.distinct_prompts, 2);
  EXPECT_EQ(statistics.test.words_not_in_training, 2);
  EXPECT_EQ(statistics.test.by_length, (std::map<int64_t, int64_t>{{3, 2}, {4, 1}}));
}

TEST(Statistics, HaveAJsonForm) {
  const TemporaryFolder folder;
  write_data(folder);
  const nlohmann::ordered_json json = to_json(measure(build_data_set(config_of(folder))));
  EXPECT_EQ(json["vocabulary"], 9);
  EXPECT_EQ(json["train"]["examples"], 3);
  EXPECT_EQ(json["test"]["by_length"]["3"], 2);
  EXPECT_EQ(json["validation"]["prompts_in_training"], 1);
}

TEST(Statistics, OfNothingAreZero) {
  DataConfig config;
  config.task = "addition";
  config.train_count = config.validation_count = config.test_count = 0;
  const DataStatistics statistics = measure(build_data_set(config));
  EXPECT_EQ(statistics.train.examples, 0);
  EXPECT_EQ(statistics.train.mean_prompt_tokens, 0);
  EXPECT_EQ(statistics.test.distinct_prompts, 0);
}

TEST(Dedup, DropsExamplesWhosePromptStandsInTraining) {
  const TemporaryFolder folder;
  write_data(folder);
  DataConfig config = config_of(folder);
  config.dedup = true;
  const DataSet set = build_data_set(config);
  EXPECT_EQ(set.train.size(), 3);
  ASSERT_EQ(set.validation.size(), 1);
  EXPECT_EQ(set.vocabulary.decode(set.validation.prompt(0)), "b a");
  ASSERT_EQ(set.test.size(), 1);
  EXPECT_EQ(set.vocabulary.decode(set.test.prompt(0)), "new");
}

TEST(Dedup, CanEmptyASplit) {
  // Sequences of up to eight bits are few enough that training has them all.
  DataConfig config;
  config.task = "parity";
  config.train_count = 50'000;
  config.test_count = 1000;
  config.dedup = true;
  const DataSet set = build_data_set(config);
  EXPECT_EQ(set.validation.size(), 0);
  EXPECT_EQ(set.test.size(), 1000);
}

TEST(PromptIndex, IsExact) {
  DataConfig config;
  config.task = "parity";
  config.train_count = 2000;
  config.test_count = 100;
  const DataSet set = build_data_set(config);
  std::set<std::vector<int32_t>> prompts;
  for (int64_t i = 0; i < set.train.size(); ++i) {
    prompts.insert({set.train.prompt(i).begin(), set.train.prompt(i).end()});
  }
  const PromptIndex index(set.train);
  EXPECT_EQ(index.distinct(), static_cast<int64_t>(prompts.size()));
  for (int64_t i = 0; i < set.validation.size(); ++i) {
    const auto prompt = set.validation.prompt(i);
    EXPECT_EQ(index.contains(prompt), prompts.contains({prompt.begin(), prompt.end()}));
  }
}

}  // namespace
}  // namespace lengthwise
