// Whole comparisons: what is said of complete, incomplete and lonely results.
#include "ranking/comparison.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "ranking/answer.h"

namespace lengthwise {
namespace {

Score score(const std::string& split, const std::string& encoding, const std::string& seed, int64_t correct,
            int64_t trained = 100) {
  Score result;
  result.split = split;
  result.category = "primitive";
  result.encoding = encoding;
  result.seed = seed;
  result.longer = {100, correct};
  result.accuracy = result.longer.share();
  result.trained = {100, trained};
  result.train_limit = 8;
  result.lengths = {{8, true, 100, trained}, {9, false, 100, correct}};
  return result;
}

/// Two splits by three seeds; `nope` is ahead of `t5` by `lead` everywhere.
std::vector<Score> grid(int64_t lead) {
  std::vector<Score> scores;
  for (const char* split : {"copy", "reverse"}) {
    for (const char* seed : {"1", "2", "3"}) {
      scores.push_back(score(split, "t5", seed, 40 + seed[0] - '0'));
      scores.push_back(score(split, "nope", seed, 40 + seed[0] - '0' + lead));
    }
  }
  return scores;
}

bool contains(const std::vector<std::string>& lines, const std::string& part) {
  for (const std::string& line : lines) {
    if (line.find(part) != std::string::npos) return true;
  }
  return false;
}

TEST(Comparison, RanksAndTests) {
  const Comparison comparison = compare_scores(grid(30), {});
  EXPECT_EQ(comparison.encodings, (std::vector<std::string>{"nope", "t5"})) << "the usual order";
  ASSERT_EQ(comparison.ranking.size(), 2u);
  EXPECT_EQ(comparison.ranking[0].encoding, 0u);
  EXPECT_DOUBLE_EQ(comparison.ranking[0].mrr->value, 1);
  EXPECT_DOUBLE_EQ(comparison.ranking[1].mrr->value, .5);
  EXPECT_NEAR(comparison.ranking[0].longer->value, .72, 1e-12);
  EXPECT_LT(comparison.ranking[0].longer->low, .72);
  EXPECT_GT(comparison.ranking[0].longer->high, .72);
  EXPECT_EQ(comparison.queries, 6u);
  ASSERT_EQ(comparison.pairs.size(), 1u);
  EXPECT_NEAR(comparison.pairs[0].difference.value, .3, 1e-12);
  EXPECT_DOUBLE_EQ(comparison.pairs[0].test.p, 2 / 64.);
  EXPECT_DOUBLE_EQ(comparison.pairs[0].holm, 2 / 64.);
  ASSERT_EQ(comparison.cells.size(), 4u);
  EXPECT_EQ(comparison.cell(0, 1)->curve->under_half.value, 9);
  EXPECT_TRUE(comparison.warnings.empty());
}

TEST(Comparison, IsTheSameEveryTime) {
  const Comparison one = compare_scores(grid(3), {});
  const Comparison two = compare_scores(grid(3), {});
  for (size_t i = 0; i < one.ranking.size(); ++i) {
    EXPECT_EQ(one.ranking[i].mrr->low, two.ranking[i].mrr->low);
    EXPECT_EQ(one.ranking[i].longer->high, two.ranking[i].longer->high);
  }
}

TEST(Comparison, IntervalsShrinkToTheSeedsWhereExamplesAreMany) {
  // One seed and a great many examples: the interval is that of the examples alone.
  std::vector<Score> scores = {score("copy", "nope", "1", 50), score("copy", "t5", "1", 10)};
  for (Score& one : scores) {
    one.longer.count *= 10'000;
    one.longer.correct *= 10'000;
  }
  const Comparison comparison = compare_scores(scores, {});
  // 1.96 * sqrt(.25 / 1e6) = .00098
  EXPECT_NEAR(comparison.ranking[0].longer->high - comparison.ranking[0].longer->low, .00196, .0003);
}

TEST(Comparison, AMissingRunDoesNotWidenTheOthersIntervals) {
  // `t5` was not run on `reverse` with seed 3. However seeds are drawn, its mean must stay one over both splits.
  std::vector<Score> scores = grid(5);
  for (Score& one : scores) {
    one.longer = {1'000'000, one.split == "copy" ? 100'000 : 900'000};
    one.accuracy = one.longer.share();
  }
  std::erase_if(scores,
                [](const Score& one) { return one.split == "reverse" && one.seed == "3" && one.encoding == "t5"; });
  const Comparison comparison = compare_scores(scores, {});
  for (const RankedEncoding& ranked : comparison.ranking) {
    EXPECT_NEAR(ranked.longer->low, .5, .01);
    EXPECT_NEAR(ranked.longer->high, .5, .01);
  }
}

TEST(Comparison, CorrectsPValuesByHolm) {
  std::vector<Score> scores;
  for (int seed = 1; seed <= 6; ++seed) {
    scores.push_back(score("copy", "nope", std::to_string(seed), 90));
    scores.push_back(score("copy", "t5", std::to_string(seed), seed == 1 ? 91 : 80));
    scores.push_back(score("copy", "alibi", std::to_string(seed), 10));
  }
  const Comparison comparison = compare_scores(scores, {.resamples = 10});
  ASSERT_EQ(comparison.pairs.size(), 3u);
  // nope - t5: five of +.10 and one of -.01: only the pattern with all signs equal is farther out.
  EXPECT_DOUBLE_EQ(comparison.pairs[0].test.p, 4 / 64.);
  EXPECT_DOUBLE_EQ(comparison.pairs[0].holm, 3 * 2 / 64.) << "not below the corrected smaller ones";
  EXPECT_DOUBLE_EQ(comparison.pairs[1].test.p, 2 / 64.);
  EXPECT_DOUBLE_EQ(comparison.pairs[1].holm, 3 * 2 / 64.);
  EXPECT_DOUBLE_EQ(comparison.pairs[2].holm, 3 * 2 / 64.);
}

TEST(Comparison, WarnsOfWhatDidNotFit) {
  std::vector<Score> scores = grid(5);
  scores.push_back(score("copy", "rope", "1", 0, 30));
  const Comparison comparison = compare_scores(scores, {});
  EXPECT_TRUE(contains(comparison.warnings, "RoPE did not fit the training lengths of copy: 0.300"));
  EXPECT_FALSE(contains(comparison.warnings, "NoPE did not fit"));
  EXPECT_EQ(comparison.cell(0, 2)->unfit_seeds, std::vector<std::string>{"1"});
  EXPECT_TRUE(contains(comparison.warnings,
                       "1 of 13 runs did not fit the training lengths, with an accuracy below 0.9 on them, and is "
                       "ranked like the others; --fit 0.9 leaves such runs out."));
  EXPECT_EQ(comparison.unfit, 1u);
}

TEST(Comparison, LeavesOutWhatDidNotFitWhereAsked) {
  std::vector<Score> scores = grid(5);
  scores.push_back(score("copy", "rope", "1", 99, 30));
  scores[0].trained = {100, 80};
  const Comparison comparison = compare_scores(scores, {.fit = .85});
  EXPECT_EQ(comparison.encodings, (std::vector<std::string>{"nope", "t5"})) << "RoPE had one run, and it did not fit";
  EXPECT_EQ(comparison.unfit, 2u);
  EXPECT_EQ(comparison.runs, 13u);
  EXPECT_EQ(comparison.queries, 5u);
  EXPECT_TRUE(contains(comparison.warnings,
                       "2 of 13 runs did not fit the training lengths, with an accuracy below "
                       "0.85 on them, and are left out."));
  EXPECT_TRUE(contains(comparison.warnings, "Left out: RoPE on copy, seed 1."));
  EXPECT_NE(answer_of(comparison)
                .find("2 of 13 runs did not fit the training lengths (accuracy below 0.85 on them) "
                      "and are left out."),
            std::string::npos)
      << answer_of(comparison);
  // A bar that all of them clear changes nothing.
  EXPECT_EQ(compare_scores(scores, {.fit = .2}).encodings.size(), 3u);
  EXPECT_EQ(answer_of(compare_scores({score("copy", "nope", "1", 50, 20)}, {.fit = .9})),
            "None of 1 run reached an accuracy of 0.9 on its training lengths; all were left out.");
}

TEST(Comparison, RanksOnlyWhatIsLongerThanAnyInTraining) {
  std::vector<Score> scores = grid(5);
  for (Score& one : scores) {
    // Half of the test examples of `reverse` are of lengths of training.
    if (one.split == "reverse") one.lengths.push_back({7, false, 100, 100});
    add_up_lengths(one);
  }
  const Comparison some = compare_scores(scores, {});
  EXPECT_DOUBLE_EQ(some.cell(1, 0)->inside.value(), 1);
  EXPECT_FALSE(some.cell(0, 0)->inside);
  EXPECT_NEAR(some.cell(1, 0)->longer->value, .47, 1e-12) << "they do not count";
  EXPECT_TRUE(contains(some.warnings,
                       "600 of 1200 test examples of reverse are not longer than any in training "
                       "(up to 8): they are shown as such and do not count."));
  EXPECT_FALSE(some.cell(1, 0)->curve->lengths[0].longer);
  EXPECT_TRUE(some.cell(1, 0)->curve->lengths.back().longer);

  for (Score& one : scores) {
    if (one.split == "reverse") one.train_limit = 9;
    add_up_lengths(one);
  }
  const Comparison half = compare_scores(scores, {});
  EXPECT_EQ(half.queries, 3u);
  EXPECT_EQ(half.dropped, 0u);
  EXPECT_FALSE(half.cell(1, 0)->longer);
  EXPECT_TRUE(contains(half.warnings,
                       "No test example of reverse is longer than any in training (up to 9): it is "
                       "shown and not ranked."));
  EXPECT_NE(answer_of(half).find("over 3 comparisons on 1 task"), std::string::npos) << answer_of(half);

  for (Score& one : scores) {
    one.train_limit = 9;
    add_up_lengths(one);
  }
  EXPECT_EQ(answer_of(compare_scores(scores, {})),
            "No test example is longer than any in training, so nothing follows about longer sequences.");
}

TEST(Comparison, ZeroAndOneHaveIntervals) {
  std::vector<Score> scores = {score("copy", "nope", "1", 100), score("copy", "t5", "1", 0)};
  const Comparison comparison = compare_scores(scores, {});
  const Estimate& all = *comparison.ranking[0].longer;
  const Estimate& none = *comparison.ranking[1].longer;
  EXPECT_EQ(all.high, 1);
  EXPECT_EQ(none.low, 0);
  // Jeffreys' interval of 0 of 100 ends at 0.0247.
  EXPECT_NEAR(none.high, .0247, .006);
  EXPECT_NEAR(all.low, 1 - .0247, .006);
  EXPECT_GT(comparison.cell(0, 1)->curve->lengths.back().accuracy.high, .015);
}

TEST(Comparison, SaysWhatNeedsMoreSeeds) {
  const Comparison one = compare_scores({score("copy", "nope", "1", 50), score("copy", "t5", "1", 40)}, {});
  EXPECT_TRUE(contains(one.notes, "With one seed"));
  EXPECT_TRUE(contains(one.notes, "With one pair of runs the paired test cannot give a p below 1; 6 pairs of runs"));
  EXPECT_FALSE(contains(compare_scores(grid(3), {}).notes, "cannot give a p below"));
}

TEST(Comparison, OfOneRunIsNoRanking) {
  const Comparison comparison = compare_scores({score("copy", "nope", "1", 50)}, {});
  ASSERT_EQ(comparison.ranking.size(), 1u);
  EXPECT_FALSE(comparison.ranking[0].mrr);
  EXPECT_TRUE(comparison.pairs.empty());
  EXPECT_TRUE(contains(comparison.notes, "at least two encodings"));
  EXPECT_EQ(
      answer_of(comparison),
      "NoPE solves 50.0 % of the problems that are longer than those it was trained on, and 100.0 % of those that "
      "are not. With one encoding there is nothing to rank.");
}

TEST(Comparison, OfNothingIsNoAnswer) {
  EXPECT_EQ(answer_of(compare_scores({}, {})), "No run has finished yet, so there is no answer.");
}

TEST(Comparison, RanksScratchpadsApart) {
  std::vector<Score> scores = grid(5);
  for (const char* encoding : {"nope", "t5"}) {
    Score with = score("addition scratchpad=full", encoding, "1", encoding[0] == 't' ? 90 : 10);
    with.category = "reasoning";
    with.scratchpad = true;
    scores.push_back(with);
  }
  const Comparison comparison = compare_scores(scores, {});
  EXPECT_EQ(comparison.categories, (std::vector<std::string>{"primitive", "reasoning, scratchpad"}));
  EXPECT_EQ(comparison.queries, 6u);
  EXPECT_DOUBLE_EQ(comparison.ranking[0].mrr->value, 1) << "the overall ranking is without scratchpads";
  EXPECT_DOUBLE_EQ(comparison.ranking[0].category_mrr[1]->value, .5);
  // Alone, scratchpads are ranked like anything else.
  std::vector<Score> alone(scores.end() - 2, scores.end());
  EXPECT_EQ(compare_scores(alone, {}).queries, 1u);
}

TEST(Comparison, RefusesImpossibleOptions) {
  EXPECT_THROW(compare_scores({}, {.fit = 1.5}), UserError);
  EXPECT_THROW(compare_scores({}, {.resamples = -1}), UserError);
}

TEST(Answer, NamesTheBestAndSaysWhetherThatCouldBeChance) {
  EXPECT_EQ(answer_of(compare_scores(grid(30), {})),
            "NoPE works best on longer sequences, over 6 comparisons on 2 tasks: it solves 72.0 % of the longer "
            "problems with a mean reciprocal rank of 1.00, ahead of T5 with 42.0 % and 0.50 (paired test: p = 0.031).");
  std::vector<Score> three = grid(30);
  three.resize(6);
  EXPECT_NE(answer_of(compare_scores(three, {})).find("a lead that could be chance (paired test: p = 0.25)"),
            std::string::npos);
}

TEST(Answer, CorrectsForTheNumberOfPairs) {
  std::vector<Score> scores = grid(30);
  for (const char* split : {"copy", "reverse"}) {
    for (const char* seed : {"1", "2", "3"}) scores.push_back(score(split, "rope", seed, 20 + seed[0] - '0'));
  }
  const Comparison comparison = compare_scores(scores, {});
  EXPECT_DOUBLE_EQ(comparison.pairs[0].test.p, 2 / 64.);
  EXPECT_DOUBLE_EQ(comparison.pairs[0].holm, 6 / 64.);
  EXPECT_NE(answer_of(comparison).find("a lead that could be chance (paired test: p = 0.094, corrected for 3 pairs)"),
            std::string::npos)
      << answer_of(comparison);
  EXPECT_TRUE(contains(comparison.notes,
                       "cannot give a p below 0.094, corrected for 3 pairs of encodings; 7 pairs of "
                       "runs (splits times seeds) are the least that can reach 0.05."));
}

TEST(Answer, NoPValueIsZero) {
  std::vector<Score> scores;
  for (int seed = 0; seed < 40; ++seed) {
    scores.push_back(score("copy", "nope", std::to_string(seed), 90));
    scores.push_back(score("copy", "t5", std::to_string(seed), 10));
  }
  const Comparison comparison = compare_scores(scores, {.resamples = 10});
  EXPECT_NE(answer_of(comparison).find("(paired test: p < 0.0001)"), std::string::npos) << answer_of(comparison);
  EXPECT_EQ(p_text(comparison.pairs[0].holm), "< 0.0001");
  EXPECT_EQ(p_text(0.0001), "0.0001");
  EXPECT_EQ(p_text(1), "1.0000");
}

TEST(Answer, DoesNotHideThatTheTwoMeasuresDisagree) {
  std::vector<Score> scores;
  for (const char* seed : {"1", "2", "3"}) {
    scores.push_back(score("copy", "nope", seed, seed[0] == '3' ? 10 : 50));
    scores.push_back(score("copy", "t5", seed, 49));
  }
  const std::string answer = answer_of(compare_scores(scores, {}));
  EXPECT_NE(answer.find("NoPE ranks best most often"), std::string::npos) << answer;
  EXPECT_NE(answer.find("T5 solves more of the longer problems on average: 49.0 % against 36.7 %"), std::string::npos);
}

TEST(Answer, ClaimsNothingWhereNothingWorksOrFits) {
  std::vector<Score> scores = {score("copy", "nope", "1", 0), score("copy", "t5", "1", 0)};
  EXPECT_NE(answer_of(compare_scores(scores, {})).find("No encoding works on longer sequences here"),
            std::string::npos);
  std::vector<Score> unfit = {score("copy", "nope", "1", 50, 20), score("copy", "t5", "1", 40, 20)};
  EXPECT_EQ(answer_of(compare_scores(unfit, {})),
            "No run fitted its training lengths, so nothing follows about longer ones; NoPE solves 50.0 % of the "
            "longer problems.");
}

TEST(Answer, WithoutACompleteQueryThereIsNoRanking) {
  const Comparison comparison = compare_scores({score("copy", "nope", "1", 50), score("sort", "t5", "1", 60)}, {});
  EXPECT_NE(answer_of(comparison).find("there is no ranking"), std::string::npos);
  EXPECT_TRUE(contains(comparison.warnings, "--encodings"));
}

}  // namespace
}  // namespace lengthwise
