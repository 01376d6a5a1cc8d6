#include "data/remarks.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/data/temporary_folder.h"

namespace lengthwise {
namespace {

using Lines = std::vector<std::string>;

DataConfig of_task(const std::string& task, int64_t train) {
  DataConfig config;
  config.task = task;
  config.train_count = train;
  return config;
}

Lines remarks_of(const DataConfig& config) {
  return remarks(config, build_data_set(config, 1));
}

std::string line(const std::string& prompt, const std::string& target) {
  return R"({"prompt":")" + prompt + R"(","target":")" + target + R"(","length":1})" + "\n";
}

DataConfig own_data(const TemporaryFolder& folder, const std::string& validation, const std::string& test) {
  folder.write("train.jsonl", line("a b", "c") + line("b a", "c"));
  folder.write("validation.jsonl", validation);
  folder.write("test.jsonl", test);
  DataConfig config;
  config.data = (folder / "").string();
  return config;
}

TEST(Remarks, SayWhatATaskHasWhereMoreWasAskedFor) {
  EXPECT_EQ(remarks_of(of_task("scan", 20'000)),
            Lines{"scan has 17774 problems of lengths 1:25: 15997 are for training (20000 were asked for), 1777 for "
                  "validation"});
  DataConfig test = of_task("scan", 100);
  test.test_count = 10'000;
  EXPECT_EQ(remarks_of(test), Lines{"scan has 3136 problems of lengths 26:48 for the test set (10000 were asked for)"});
}

TEST(Remarks, SayNothingWhereRoundingCostsAFew) {
  for (const char* task : {"scan", "copy-rdc", "addition", "lego"}) {
    DataConfig config;
    config.task = task;
    const ResolvedData data = resolve(config);
    const auto source = make_source(data);
    EXPECT_EQ(
        shortfalls(data, {source->count(Split::train), source->count(Split::validation), source->count(Split::test)}),
        Lines{})
        << task;
  }
}

TEST(Remarks, NameWordsOfTheTestSetThatNeverOccurInTraining) {
  const TemporaryFolder folder;
  EXPECT_EQ(remarks_of(own_data(folder, line("a", "c"), line("a x", "c"))),
            Lines{"1 word of the test set never occurs in training: 'x'"});
  EXPECT_EQ(remarks_of(own_data(folder, line("v", "c"), line("a n1 n2 n3 n4", "n5 n6 n1"))),
            Lines{"6 words of the test set never occur in training: 'n1', 'n2', 'n3', 'n4', 'n5', ..."});
  EXPECT_EQ(remarks_of(own_data(folder, line("v", "c"), line("b", "c a"))), Lines{});
  const NewWords words =
      words_not_in_training(build_data_set(own_data(folder, line("v w", "c"), "")), Split::validation, 1);
  EXPECT_EQ(words.count, 2);
  EXPECT_EQ(words.first, Lines{"v"});
}

std::string refusal(const DataConfig& config) {
  try {
    check_trainable(config, build_data_set(config, 1));
    return "";
  } catch (const UserError& error) {
    return error.what();
  }
}

TEST(Remarks, SayWhyThereIsNothingToChooseTheBestWeightsBy) {
  const std::string needed = "; training needs examples there to choose the best weights by";
  const TemporaryFolder folder;
  DataConfig own = own_data(folder, "", line("a", "c"));
  EXPECT_EQ(refusal(own), (folder / "validation.jsonl").string() + " holds no example" + needed);
  own = own_data(folder, line("a b", "c"), "");
  EXPECT_EQ(refusal(own), "");
  own.dedup = true;
  EXPECT_EQ(refusal(own), "--dedup leaves no validation example: the prompt of each stands in training" + needed);
  DataConfig drawn = of_task("sort", 100);
  drawn.validation_count = 0;
  EXPECT_EQ(refusal(drawn), "--validation-count 0 leaves no validation example" + needed);
  EXPECT_EQ(refusal(of_task("sort", 0)), "there are no training examples");
  EXPECT_EQ(refusal(of_task("sort", 100)), "");
}

}  // namespace
}  // namespace lengthwise
