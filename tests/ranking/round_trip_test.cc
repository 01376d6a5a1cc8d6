// What a folder of runs says, its table says as well; and options that are tuned.
#include <gtest/gtest.h>

#include <ctime>

#include "core/error.h"
#include "ranking/answer.h"
#include "ranking/comparison.h"
#include "results/load_results.h"
#include "results/read_scores.h"
#include "results/tidy.h"
#include "tests/core/temporary_folder.h"
#include "tests/results/made_run.h"

namespace lengthwise {
namespace {

void expect_same(const std::optional<Estimate>& a, const std::optional<Estimate>& b) {
  ASSERT_EQ(a.has_value(), b.has_value());
  if (!a) return;
  EXPECT_EQ(a->value, b->value);
  EXPECT_EQ(a->low, b->low);
  EXPECT_EQ(a->high, b->high);
}

void expect_same(const Comparison& a, const Comparison& b) {
  EXPECT_EQ(answer_of(a), answer_of(b));
  EXPECT_EQ(a.encodings, b.encodings);
  EXPECT_EQ(a.labels, b.labels);
  EXPECT_EQ(a.families, b.families);
  EXPECT_EQ(a.categories, b.categories);
  EXPECT_EQ(a.warnings, b.warnings);
  EXPECT_EQ(a.notes, b.notes);
  EXPECT_EQ(a.queries, b.queries);
  ASSERT_EQ(a.ranking.size(), b.ranking.size());
  for (size_t i = 0; i < a.ranking.size(); ++i) {
    EXPECT_EQ(a.ranking[i].encoding, b.ranking[i].encoding);
    expect_same(a.ranking[i].mrr, b.ranking[i].mrr);
    expect_same(a.ranking[i].longer, b.ranking[i].longer);
    expect_same(a.ranking[i].trained, b.ranking[i].trained);
    for (size_t c = 0; c < a.categories.size(); ++c) {
      expect_same(a.ranking[i].category_mrr[c], b.ranking[i].category_mrr[c]);
      expect_same(a.ranking[i].category_longer[c], b.ranking[i].category_longer[c]);
    }
  }
  ASSERT_EQ(a.cells.size(), b.cells.size());
  for (size_t i = 0; i < a.cells.size(); ++i) {
    EXPECT_EQ(a.splits[a.cells[i].split].name, b.splits[b.cells[i].split].name);
    EXPECT_EQ(a.cells[i].unfit_seeds, b.cells[i].unfit_seeds);
    EXPECT_EQ(a.cells[i].inside, b.cells[i].inside);
    expect_same(a.cells[i].longer, b.cells[i].longer);
    expect_same(a.cells[i].trained, b.cells[i].trained);
    ASSERT_EQ(a.cells[i].curve->lengths.size(), b.cells[i].curve->lengths.size());
    EXPECT_EQ(a.cells[i].curve->lengths.back().accuracy.high, b.cells[i].curve->lengths.back().accuracy.high);
  }
  ASSERT_EQ(a.pairs.size(), b.pairs.size());
  for (size_t i = 0; i < a.pairs.size(); ++i) {
    EXPECT_EQ(a.pairs[i].holm, b.pairs[i].holm);
    expect_same(a.pairs[i].difference, b.pairs[i].difference);
  }
  ASSERT_EQ(a.choices.size(), b.choices.size());
  for (size_t i = 0; i < a.choices.size(); ++i) {
    EXPECT_EQ(a.choices[i].tried.size(), b.choices[i].tried.size());
    EXPECT_EQ(a.choices[i].chosen, b.choices[i].chosen);
  }
}

/// Three categories with and without scratchpad, a test set that begins inside training, runs that did not fit, a run
/// that repeats another and one that is missing. Folders are not in the order of the tasks.
void make_study(const TemporaryFolder& folder) {
  int number = 900;
  for (const char* task : {"scan", "sort", "copy"}) {
    for (const char* scratchpad : {"none", "full"}) {
      if (std::string(task) != "sort" && std::string(scratchpad) == "full") continue;
      for (const char* encoding : {"t5", "nope", "rope"}) {
        for (int64_t seed = 1; seed <= 3; ++seed) {
          if (std::string(task) == "copy" && std::string(encoding) == "rope" && seed == 3) continue;
          const int64_t strength = encoding[0] == 'n' ? 8 : encoding[0] == 't' ? 5 : 0;
          make_run(folder / std::to_string(number--), {.task = task,
                                                       .encoding = encoding,
                                                       .seed = seed,
                                                       .options = {{"scratchpad", scratchpad}},
                                                       .trained_correct = encoding[0] == 'r' && seed == 2 ? 4 : 10,
                                                       .longer_correct = std::min<int64_t>(10, strength + seed % 2),
                                                       .first_test = std::string(task) == "scan" ? 2 : 3});
        }
      }
    }
  }
  make_run(folder / "again", {.task = "copy", .encoding = "nope", .longer_correct = 0});
}

TEST(RoundTrip, AFolderAndItsTableCompareAlike) {
  const TemporaryFolder folder;
  make_study(folder);
  const Results results = load_results(folder.path());
  std::vector<std::string> notes;
  const std::vector<Score> scores = scores_of(results, notes);
  const std::vector<Score> read = parse_scores(tidy_csv(results), "results.csv");
  for (const CompareOptions& options : {CompareOptions{}, CompareOptions{.ties = Ties::kPaper, .fit = .9}}) {
    const Comparison direct = compare_scores(scores, options);
    EXPECT_EQ(direct.categories,
              (std::vector<std::string>{"primitive", "reasoning", "classic", "reasoning, scratchpad"}));
    EXPECT_GT(direct.warnings.size(), 3u);
    expect_same(direct, compare_scores(read, options));
    expect_same(direct, compare_scores(parse_scores(tidy_csv(read), "again.csv"), options));
  }
}

TEST(Labels, AreThoseThatRunsSay) {
  const TemporaryFolder folder;
  make_run(folder / "a", {.encoding = "layers(rope,nope)", .label = "RoPE / NoPE", .family = "modifier"});
  make_run(folder / "b", {.encoding = "layers(rope,layers(nope))", .label = "RoPE / NoPE", .family = "modifier"});
  make_run(folder / "c", {.encoding = "mine", .label = "Mine, too", .family = "my own"});
  make_run(folder / "d", {.encoding = "t5(buckets=8,max=9)"});  // an earlier version's
  make_run(folder / "e", {.encoding = "somebody's"});
  make_run(folder / "f", {.encoding = "nope", .longer_correct = 9});
  const Results results = load_results(folder.path());
  std::vector<std::string> notes;
  const Comparison comparison = compare_scores(scores_of(results, notes), {});
  EXPECT_EQ(comparison.labels, (std::vector<std::string>{"NoPE", "RoPE / NoPE [layers(rope,nope)]",
                                                         "RoPE / NoPE [layers(rope,layers(nope))]", "Mine, too",
                                                         "T5 buckets=8 max=9", "somebody's"}));
  EXPECT_EQ(comparison.families, (std::vector<std::string>{"none", "modifier", "modifier", "my own", "bias", "other"}));
  EXPECT_EQ(comparison.label_of("mine"), "Mine, too");
  EXPECT_EQ(comparison.label_of("alibi"), "ALiBi") << "also where no run is left";
  expect_same(comparison, compare_scores(parse_scores(tidy_csv(results), "results.csv"), {}));
}

TEST(Labels, OfAVariantNameItsOption) {
  const TemporaryFolder folder;
  for (int64_t reach = 1; reach <= 2; ++reach) {
    make_run(folder / std::to_string(reach),
             {.encoding = "mine", .label = "Mine", .family = "my own", .options = {{"reach", reach}}});
    make_run(folder / fmt::format("n{}", reach), {.encoding = "nope", .seed = reach, .options = {{"reach", 1}}});
  }
  const Results results = load_results(folder.path());
  EXPECT_EQ(results.runs[0].encoding, "mine reach=1");
  EXPECT_EQ(results.runs[0].label, "Mine reach=1");
}

/// Rates 1, 2 and 3 for two encodings with two seeds; `best` of each is the one with the most right in validation.
void make_tuned(const TemporaryFolder& folder) {
  int number = 0;
  for (const char* encoding : {"nope", "t5"}) {
    for (int64_t rate = 1; rate <= 3; ++rate) {
      for (int64_t seed = 1; seed <= 2; ++seed) {
        const int64_t best = encoding[0] == 'n' ? 2 : 3;
        // Longer lengths would choose rate 1.
        make_run(folder / fmt::format("{:02}", number++), {.encoding = encoding,
                                                           .seed = seed,
                                                           .options = {{"lr", rate}},
                                                           .trained_correct = rate == best ? 10 : 9,
                                                           .longer_correct = 10 - rate});
      }
    }
  }
}

TEST(Tuning, ChoosesByValidationAlone) {
  const TemporaryFolder folder;
  make_tuned(folder);
  std::vector<std::string> notes;
  const Results results = load_results(folder.path(), {.tune = {"lr"}});
  const Comparison comparison = compare_scores(scores_of(results, notes), {});
  EXPECT_EQ(comparison.runs, 4u);
  ASSERT_EQ(comparison.splits.size(), 1u);
  EXPECT_EQ(comparison.splits[0].name, "sort");
  ASSERT_EQ(comparison.choices.size(), 2u);
  EXPECT_EQ(comparison.choice("sort", "nope")->tried.size(), 3u);
  EXPECT_EQ(comparison.choice("sort", "nope")->chosen, 1u);
  EXPECT_EQ(comparison.choice("sort", "t5")->tried[2].value, "lr=3");
  EXPECT_EQ(comparison.choice("sort", "t5")->chosen, 2u);
  EXPECT_DOUBLE_EQ(comparison.choice("sort", "t5")->tried[2].accuracy, 1);
  EXPECT_DOUBLE_EQ(comparison.cell(0, 0)->longer->value, (8 + 4) / 20.);
  EXPECT_DOUBLE_EQ(comparison.cell(0, 1)->longer->value, (7 + 3) / 20.);
  expect_same(comparison, compare_scores(parse_scores(tidy_csv(results), "results.csv"), {}));
}

Score tried(const std::string& value, const std::string& seed, int64_t trained, double loss) {
  Score score;
  score.split = "copy";
  score.encoding = "nope";
  score.seed = seed;
  score.tuned = value;
  score.lengths = {{1, true, 10, trained, loss}, {2, false, 10, 5, 1}};
  score.train_limit = 1;
  add_up_lengths(score);
  return score;
}

TEST(Tuning, BreaksTiesByLossThenByOrder) {
  EXPECT_EQ(compare_scores({tried("lr=1", "1", 9, .5), tried("lr=2", "1", 9, .4)}, {}).choices[0].chosen, 1u);
  EXPECT_EQ(compare_scores({tried("lr=1", "1", 9, .5), tried("lr=2", "1", 9, .5)}, {}).choices[0].chosen, 0u);
  EXPECT_EQ(compare_scores({tried("lr=1", "1", 8, .1), tried("lr=2", "1", 9, .5)}, {}).choices[0].chosen, 1u);
  // In the mean over seeds, not by the best of them.
  const Comparison mean =
      compare_scores({tried("lr=1", "1", 10, 0), tried("lr=1", "2", 2, 0), tried("lr=2", "1", 7, 0)}, {});
  EXPECT_EQ(mean.choices[0].chosen, 1u);
  EXPECT_EQ(mean.warnings.back(),
            "NoPE on copy: not all values were tried with as many seeds, so the choice of lr=2 is not even-handed.");
}

TEST(Limits, ManyEncodingsAreComparedWithoutPairs) {
  std::vector<Score> scores;
  for (int i = 0; i < 2000; ++i) {
    Score score;
    score.split = "copy";
    score.encoding = fmt::format("e{}", i);
    score.seed = "1";
    score.accuracy = i / 2000.;
    scores.push_back(score);
  }
  const Comparison comparison = compare_scores(scores, {});
  EXPECT_TRUE(comparison.pairs.empty());
  EXPECT_NE(std::find(comparison.notes.begin(), comparison.notes.end(),
                      "With 2000 encodings there are no paired tests; up to 64 have them."),
            comparison.notes.end());
  EXPECT_NE(answer_of(comparison).find("a lead that was not tested"), std::string::npos);
  for (int i = 2000; i < 6000; ++i) {
    scores.push_back(scores[0]);
    scores.back().encoding = fmt::format("e{}", i);
  }
  EXPECT_THROW(compare_scores(scores, {}), UserError);
}

TEST(Limits, ManyResultsAreComparedWithFewerResamples) {
  EXPECT_EQ(affordable_resamples(1000, 0), 1000);
  EXPECT_EQ(affordable_resamples(1000, 100'000), 1000);
  EXPECT_EQ(affordable_resamples(1000, 400'000), 250);
  EXPECT_EQ(affordable_resamples(1000, 20'000'000), kFewestResamples);
  EXPECT_EQ(affordable_resamples(10, 20'000'000), 10);
}

/// A million results in 100 splits.
TEST(LimitsLong, AMillionResultsTakeSeconds) {
  std::vector<Score> scores;
  for (int i = 0; i < 1'000'000; ++i) {
    Score score;
    score.split = fmt::format("s{}", i % 100);
    score.encoding = fmt::format("e{}", i / 100 % 10);
    score.seed = fmt::format("{}", i / 1000);
    score.longer = {100, i % 101};
    score.accuracy = score.longer.share();
    scores.push_back(std::move(score));
  }
  const std::clock_t begin = std::clock();
  const Comparison comparison = compare_scores(scores, {});
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 60) << "about 10 s";
  EXPECT_EQ(comparison.queries, 100'000u);
  EXPECT_EQ(comparison.pairs.size(), 45u);
  EXPECT_NE(std::find(comparison.notes.begin(), comparison.notes.end(),
                      "With so many results intervals are made of 100 resamples instead of 1000."),
            comparison.notes.end());
}

}  // namespace
}  // namespace lengthwise
