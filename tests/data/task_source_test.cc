#include "data/task_source.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tasks/registry.h"

namespace lengthwise {
namespace {

constexpr Split kSplits[] = {Split::train, Split::validation, Split::test};

ResolvedData resolved(const std::string& task, std::optional<int64_t> train = {},
                      std::optional<int64_t> validation = {}, std::optional<int64_t> test = {}) {
  DataConfig config;
  config.task = task;
  config.train_count = train;
  config.validation_count = validation;
  config.test_count = test;
  return resolve(config);
}

struct Counts {
  int64_t train, validation, test;
};

/// What the study's own files hold, by the name of the split there.
const std::map<std::string, Counts>& counts_of_the_study() {
  static const std::map<std::string, Counts> counts{
      {"s2s_copy/rsc_tr20_ts40", {100'000, 14'988, 10'000}},
      {"s2s_copy/rsc2x_tr20_ts40", {100'000, 14'988, 10'000}},
      {"s2s_copy/rdc_tr20_ts40", {100'000, 14'114, 10'000}},
      {"s2s_copy/cmc_tr20_ts40", {100'000, 14'988, 10'000}},
      {"s2s_copy/cmc2x_tr20_ts40", {100'000, 14'988, 10'000}},
      {"s2s_reverse/mc_tr20_ts40", {100'000, 14'988, 10'000}},
      {"s2s_reverse/mc2x_tr20_ts40", {100'000, 14'988, 10'000}},
      {"s2s_reverse/mcrv_tr20_ts40", {100'000, 14'988, 10'000}},
      {"s2s_addition/len_tr8_ts16", {100'000, 14'944, 9'984}},
      {"s2s_poly/n_terms_tr8_ts16", {100'000, 14'992, 10'000}},
      {"s2s_sort/len_sngd_tr8_ts16", {100'000, 14'996, 10'000}},
      {"s2s_sort/len_mltd_tr8_ts16", {100'000, 14'996, 10'000}},
      {"s2s_sum/len_tr8_ts16", {100'000, 14'996, 10'000}},
      {"s2s_lego/len_tr8_ts16", {100'000, 14'988, 9'984}},
      {"scan/mdlen_tr25_ts48", {15'997, 1'777, 3'136}},
      {"pcfg/md_productivity", {72'909, 8'101, 11'333}},
  };
  return counts;
}

TEST(TaskSource, HasTheCountsOfTheStudy) {
  size_t of_the_study = 0;
  for (const auto& task : tasks()) {
    const TaskInfo& info = task->info();
    if (info.paper.empty()) continue;
    ++of_the_study;
    const TaskSource source(resolved(info.name));
    const Counts counts{source.count(Split::train), source.count(Split::validation), source.count(Split::test)};
    if (info.paper == "s2s_parity/len_tr8_ts16") {
      // The lower end of its training lengths is not known, and with it the count of the validation set.
      EXPECT_EQ(counts.train, 100'000);
      EXPECT_NEAR(static_cast<double>(counts.validation), 14'996, 10);
      EXPECT_EQ(counts.test, 10'000);
      continue;
    }
    ASSERT_TRUE(counts_of_the_study().contains(info.paper)) << info.paper;
    const Counts& study = counts_of_the_study().at(info.paper);
    EXPECT_EQ(counts.train, study.train) << info.name;
    EXPECT_EQ(counts.validation, study.validation) << info.name;
    EXPECT_EQ(counts.test, study.test) << info.name;
  }
  EXPECT_EQ(of_the_study, counts_of_the_study().size() + 1);
}

TEST(TaskSource, KeepsToTheLengthsOfEachSplit) {
  for (const auto& task : tasks()) {
    const TaskInfo& info = task->info();
    const TaskSource source(resolved(info.name, 300, 100, 300));
    Example example;
    for (const Split split : kSplits) {
      const LengthRange range = split == Split::test ? info.test : info.train;
      int64_t before = 0;
      for (int64_t i = 0; i < source.count(split); ++i) {
        source.get(split, i, example);
        EXPECT_TRUE(range.contains(example.length)) << info.name << " " << to_text(split) << " " << example.length;
        if (split != Split::test || info.name.starts_with("addition")) continue;  // whose bins are pairs of lengths
        EXPECT_LE(before, example.length) << "the test set of " << info.name << " is not in the order of its bins";
        before = example.length;
      }
    }
  }
}

std::string text_of(const ExampleSource& source, Split split, int64_t index) {
  Example example;
  source.get(split, index, example);
  return example.prompt + " -> " + example.target + " " + std::to_string(example.length) + " " + example.category;
}

TEST(TaskSource, AnExampleDependsOnItsPlaceAlone) {
  for (const auto& task : tasks()) {
    const ResolvedData data = resolved(task->info().name, 500, 50, 500);
    const TaskSource one(data);
    const TaskSource two(data);
    for (const Split split : kSplits) {
      const int64_t count = one.count(split);
      ASSERT_EQ(count, two.count(split));
      for (int64_t i = 0; i < count; ++i) {
        // One walks forward, the other comes back from the end.
        if (text_of(one, split, i) == text_of(two, split, i)) continue;
        ADD_FAILURE() << task->info().name << " " << i;
      }
      for (int64_t i = count - 1; i >= 0; i -= 7) EXPECT_EQ(text_of(one, split, i), text_of(two, split, i));
    }
  }
}

TEST(TaskSource, TheSeedChangesTheExamples) {
  ResolvedData data = resolved("addition", 100, 10, 192);
  const TaskSource one(data);
  data.seed += 1;
  const TaskSource two(data);
  int same = 0;
  for (int64_t i = 0; i < 192; ++i) {
    same += text_of(one, Split::test, i) == text_of(two, Split::test, i) ? 1 : 0;
  }
  EXPECT_EQ(same, 0);
}

TEST(TaskSource, TrainingAndValidationShareNoDraw) {
  // SCAN enumerates its commands, so that no two draws of a pool can be alike.
  for (const int64_t train : {100, 15'997}) {
    const TaskSource source(resolved("scan", train, 1'777));
    std::set<std::string> prompts;
    Example example;
    for (const Split split : kSplits) {
      for (int64_t i = 0; i < source.count(split); ++i) {
        source.get(split, i, example);
        EXPECT_TRUE(prompts.insert(example.prompt).second) << example.prompt;
      }
    }
    EXPECT_EQ(static_cast<int64_t>(prompts.size()), train + 1'777 + 3'136);
  }
}

TEST(TaskSource, ThePoolIsInRandomOrder) {
  const TaskSource source(resolved("addition", 1000));
  Example example;
  int rises = 0;
  int64_t before = 0;
  for (int64_t i = 0; i < 1000; ++i) {
    source.get(Split::train, i, example);
    rises += example.length > before ? 1 : 0;
    before = example.length;
  }
  EXPECT_GT(rises, 250);
  EXPECT_LT(rises, 600);
}

TEST(TaskSource, SmallCountsAreMetInSpiteOfRounding) {
  for (const auto& task : tasks()) {
    const std::string& name = task->info().name;
    for (const int64_t count : {1, 10, 100}) {
      const TaskSource source(resolved(name, count, count, count));
      EXPECT_EQ(source.count(Split::train), count) << name;
      EXPECT_EQ(source.count(Split::validation), count) << name;
      EXPECT_GE(source.count(Split::test), std::min<int64_t>(count, 8)) << name;
      EXPECT_LE(source.count(Split::test), count) << name;
    }
  }
}

struct Cut {
  int64_t train, validation;
  bool operator==(const Cut&) const = default;
};

Cut cut_of(ResolvedData data, int64_t version = kNewestDraw) {
  data.version = version;
  const TaskSource source(data);
  return {source.count(Split::train), source.count(Split::validation)};
}

TEST(TaskSource, KeepsATenthForValidationWhereATaskHasNoMore) {
  // SCAN has 17,774 commands of up to 25 actions; copy-rdc 6,006 problems of each of 19 lengths.
  EXPECT_EQ(cut_of(resolved("scan", 50'000)), (Cut{15'997, 1'777}));
  EXPECT_EQ(cut_of(resolved("scan", 17'774)), (Cut{15'997, 1'777}));
  EXPECT_EQ(cut_of(resolved("scan", 17'000)), (Cut{15'997, 1'777}));
  EXPECT_EQ(cut_of(resolved("scan", 50'000, 20)), (Cut{17'754, 20}));
  EXPECT_EQ(cut_of(resolved("scan", 50'000, 0)), (Cut{17'774, 0}));
  EXPECT_EQ(cut_of(resolved("scan", 10'000, 50'000)), (Cut{10'000, 7'774}));
  EXPECT_EQ(cut_of(resolved("copy-rdc", 500'000)), (Cut{114'114 - 11'411, 11'411}));
  EXPECT_EQ(cut_of(resolved("copy-rdc", 100'000)), (Cut{100'000, 14'114})) << "as in the study";
  DataConfig few;
  few.task = "scan";
  few.train_lengths = LengthRange{1, 1};
  const Cut cut = cut_of(resolve(few));
  EXPECT_GT(cut.validation, 0);
  EXPECT_GT(cut.train, cut.validation);
  // As it was, for what was trained on it.
  EXPECT_EQ(cut_of(resolved("scan", 17'774), 1), (Cut{17'774, 0}));
}

TEST(TaskSource, SavesTheVersionOnlyWhereItMatters) {
  const auto saved = [](const ResolvedData& data) { return version_to_save(data); };
  for (const auto& task : tasks()) {
    const TaskInfo& info = task->info();
    EXPECT_EQ(saved(resolved(info.name)), info.data_version > 1 ? std::optional(kNewestDraw) : std::nullopt)
        << info.name;
  }
  EXPECT_EQ(saved(resolved("scan", 17'000)), kNewestDraw);
  ResolvedData first = resolved("pcfg");
  first.version = 1;
  EXPECT_EQ(saved(first), std::nullopt);
}

TEST(TaskSource, TheFirstVersionStillDrawsWhatItDrew) {
  // As `data export --task copy-rdc --train-count 1 --test-count 20` and the same with pcfg wrote them then.
  const auto test_of = [](const std::string& task, int64_t index) {
    DataConfig config;
    config.task = task;
    config.train_count = 1;
    config.test_count = 20;
    config.data_version = 1;
    Example example;
    make_source(resolve(config))->get(Split::test, index, example);
    return example.prompt;
  };
  EXPECT_TRUE(test_of("copy-rdc", 0).starts_with("Replace w28 with w56 in"));
  EXPECT_TRUE(test_of("copy-rdc", 1).starts_with("Replace w33 with w5 in"));
  EXPECT_TRUE(test_of("copy-rsc", 0).starts_with("Copy the following words: w2150 w2150"));
  EXPECT_TRUE(test_of("copy-rsc", 1).starts_with("Copy the following words: w2488 w2488"));
  EXPECT_EQ(test_of("pcfg", 0),
            "echo shift prepend C16 L4 G17 Z5 R18 , reverse reverse copy copy remove_second prepend H13 U7 J20 X5 E2 , "
            "F11 A11 I20 , D18 T5");
}

TEST(TaskSource, CountsMayBeZero) {
  const TaskSource source(resolved("addition", 0, 0, 0));
  for (const Split split : kSplits) EXPECT_EQ(source.count(split), 0);
  EXPECT_THROW(text_of(source, Split::train, 0), std::logic_error);
}

TEST(TaskSource, ATestSetThatIsCutKeepsEveryLength) {
  const TaskSource source(resolved("scan", 100, 10, 1000));
  EXPECT_EQ(source.count(Split::test), 1000);
  std::map<int64_t, int64_t> by_length;
  Example example;
  for (int64_t i = 0; i < 1000; ++i) {
    source.get(Split::test, i, example);
    ++by_length[example.length];
  }
  // 448 of the 3,136 long commands have 27 actions.
  EXPECT_NEAR(static_cast<double>(by_length[27]), 1000.0 * 448 / 3136, 45);
  EXPECT_EQ(by_length.size(), 9u);
}

}  // namespace
}  // namespace lengthwise
