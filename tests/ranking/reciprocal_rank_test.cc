// Ranks and their means, against tables worked out by hand.
#include "ranking/reciprocal_rank.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "ranking/comparison.h"
#include "results/encoding_names.h"

namespace lengthwise {
namespace {

using Numbers = std::vector<double>;

TEST(Ranks, FollowTheAccuracies) {
  EXPECT_EQ(ranks_of(Numbers{.2, .9, .5}, Ties::kAverage, std::vector{0, 1, 2}), (Numbers{3, 1, 2}));
  EXPECT_EQ(ranks_of(Numbers{.2, .9, .5}, Ties::kPaper, std::vector{0, 1, 2}), (Numbers{3, 1, 2}));
  EXPECT_EQ(ranks_of(Numbers{}, Ties::kAverage, std::vector<int>{}), Numbers{});
}

TEST(Ranks, ShareTheMeanOfTiedPlaces) {
  EXPECT_EQ(ranks_of(Numbers{.5, .9, .5}, Ties::kAverage, std::vector{0, 1, 2}), (Numbers{2.5, 1, 2.5}));
  EXPECT_EQ(ranks_of(Numbers{0, 0, 0, 1}, Ties::kAverage, std::vector{0, 1, 2, 3}), (Numbers{3, 3, 3, 1}));
}

TEST(Ranks, TieWhatIsCloseToTheBestOfThem) {
  const std::vector<int> rows(6, 0);
  const Ties close = Ties::up_to(.01);
  // .008 and .000 tie; .49 ties .50, and .485 no longer does: it begins the next, which .48 ties.
  EXPECT_EQ(ranks_of(Numbers{.000, .008, .50, .49, .485, .48}, close, rows), (Numbers{5.5, 5.5, 1.5, 1.5, 3.5, 3.5}));
  EXPECT_EQ(ranks_of(Numbers{.000, .008, .50, .49, .485, .48}, Ties::kAverage, rows), (Numbers{6, 5, 1, 2, 3, 4}));
}

TEST(Ranks, BreakTiesByThePublishedRows) {
  const std::vector<std::string> names = {"nope", "t5", "alibi", "rope", "sinusoidal"};
  std::vector<int> rows;
  for (const std::string& name : names) rows.push_back(published_row(name));
  // Rotary, ALiBi, T5, APE, NoPE: a tie never favours NoPE.
  EXPECT_EQ(ranks_of(Numbers{0, 0, 0, 0, 0}, Ties::kPaper, rows), (Numbers{5, 3, 2, 1, 4}));
  EXPECT_EQ(ranks_of(Numbers{1, 1, .5, 0, 0}, Ties::kPaper, rows), (Numbers{2, 1, 3, 4, 5}));
  // Encodings the paper does not have come after its own, in the order they stand in.
  EXPECT_EQ(ranks_of(Numbers{1, 1, 1}, Ties::kPaper, std::vector{5, 5, 4}), (Numbers{2, 3, 1}));
}

TEST(Ranks, OfChance) {
  EXPECT_NEAR(chance_reciprocal_rank(5), 0.457, 5e-4);
  EXPECT_EQ(chance_reciprocal_rank(1), 1);
}

TEST(Ranks, TheRuleForTiesIsANameOrANumber) {
  Ties ties = Ties::kAverage;
  for (const char* text : {"paper", "average", "0.01"}) {
    from_text(text, ties);
    EXPECT_EQ(to_text(ties), text);
  }
  EXPECT_EQ(ties, Ties::up_to(.01));
  for (const char* text : {"papre", "1", "-0.1", "0.01 ", "nan", ""}) EXPECT_THROW(from_text(text, ties), UserError);
}

/// Published means over seeds of half of the splits (section 6.4 of the protocol), here as if they were one seed.
std::vector<Score> published_means() {
  struct Row {
    const char* split;
    const char* category;
    double nope, t5, alibi, rotary, ape;
  };
  const Row rows[] = {
      {"copy rsc", "primitive", .986, .771, .289, .000, .000},
      {"copy cmc2x", "primitive", .431, .524, .569, .043, .040},
      {"reverse mc2x", "primitive", .473, .448, .195, .053, .011},
      {"addition", "math & reasoning", .085, .072, .077, .000, .004},
      {"sort single token", "math & reasoning", .995, .987, .623, .489, .102},
      {"sort multi digit", "math & reasoning", .264, .371, .295, .751, .112},
      {"polynomial", "math & reasoning", .387, .360, .631, .481, .213},
      {"SCAN", "classic", .797, .798, .438, .283, .057},
  };
  std::vector<Score> scores;
  for (const Row& row : rows) {
    const auto add = [&](const char* encoding, double accuracy) {
      Score score;
      score.split = row.split;
      score.category = row.category;
      score.encoding = encoding;
      score.seed = "mean";
      score.accuracy = accuracy;
      scores.push_back(score);
    };
    add("NoPE", row.nope);
    add("T5's Relative Bias", row.t5);
    add("ALiBi", row.alibi);
    add("Rotary", row.rotary);
    add("Absolute Position Embedding", row.ape);
  }
  return scores;
}

std::map<std::string, RankedEncoding> by_name(const Comparison& comparison) {
  std::map<std::string, RankedEncoding> rows;
  for (const RankedEncoding& row : comparison.ranking) rows[comparison.encodings[row.encoding]] = row;
  return rows;
}

TEST(MeanReciprocalRank, OfThePublishedMeansWithThePapersTies) {
  const Comparison comparison = compare_scores(published_means(), {.ties = Ties::kPaper, .resamples = 0});
  auto rows = by_name(comparison);
  // By hand: the sums of 1 / rank over the eight splits.
  EXPECT_NEAR(rows["NoPE"].mrr->value, (1 + 1 / 3. + 1 + 1 + 1 + 1 / 4. + 1 / 3. + 1 / 2.) / 8, 1e-12);
  EXPECT_NEAR(rows["T5's Relative Bias"].mrr->value,
              (1 / 2. + 1 / 2. + 1 / 2. + 1 / 3. + 1 / 2. + 1 / 2. + 1 / 4. + 1) / 8, 1e-12);
  EXPECT_NEAR(rows["ALiBi"].mrr->value, (1 / 3. + 1 + 1 / 3. + 1 / 2. + 1 / 3. + 1 / 3. + 1 + 1 / 3.) / 8, 1e-12);
  EXPECT_NEAR(rows["Rotary"].mrr->value, (1 / 4. + 1 / 4. + 1 / 4. + 1 / 5. + 1 / 4. + 1 + 1 / 2. + 1 / 4.) / 8, 1e-12);
  EXPECT_NEAR(rows["Absolute Position Embedding"].mrr->value,
              (1 / 5. + 1 / 5. + 1 / 5. + 1 / 4. + 1 / 5. + 1 / 5. + 1 / 5. + 1 / 5.) / 8, 1e-12);
  ASSERT_EQ(comparison.categories, (std::vector<std::string>{"primitive", "classic", "math & reasoning"}));
  EXPECT_NEAR(rows["NoPE"].category_mrr[0]->value, (1 + 1 / 3. + 1) / 3, 1e-12);
  EXPECT_NEAR(rows["NoPE"].category_mrr[1]->value, 1 / 2., 1e-12);
  EXPECT_NEAR(rows["NoPE"].category_mrr[2]->value, (1 + 1 + 1 / 4. + 1 / 3.) / 4, 1e-12);
  EXPECT_EQ(comparison.queries, 8u);
}

TEST(MeanReciprocalRank, OfThePublishedMeansWithAveragedTies) {
  const Comparison comparison = compare_scores(published_means(), {.resamples = 0});
  auto rows = by_name(comparison);
  // Rotary and APE are both .000 on `copy rsc`: ranks 4 and 5 become 4.5.
  EXPECT_NEAR(rows["Rotary"].mrr->value, (1 / 4.5 + 1 / 4. + 1 / 4. + 1 / 5. + 1 / 4. + 1 + 1 / 2. + 1 / 4.) / 8,
              1e-12);
  EXPECT_NEAR(rows["Absolute Position Embedding"].mrr->value, (1 / 4.5 + 1 / 4. + 6 / 5.) / 8, 1e-12);
  EXPECT_NEAR(rows["NoPE"].mrr->value, (1 + 1 / 3. + 1 + 1 + 1 + 1 / 4. + 1 / 3. + 1 / 2.) / 8, 1e-12);
}

TEST(MeanReciprocalRank, DropsQueriesWithAMissingRun) {
  std::vector<Score> scores = published_means();
  std::erase_if(scores, [](const Score& score) { return score.split == "SCAN" && score.encoding == "Rotary"; });
  const Comparison comparison = compare_scores(scores, {.ties = Ties::kPaper, .resamples = 0});
  EXPECT_EQ(comparison.queries, 7u);
  EXPECT_EQ(comparison.dropped, 1u);
  EXPECT_NEAR(by_name(comparison)["NoPE"].mrr->value, (1 + 1 / 3. + 1 + 1 + 1 + 1 / 4. + 1 / 3.) / 7, 1e-12);
  EXPECT_FALSE(by_name(comparison)["NoPE"].category_mrr[1]) << "no query of the category is left";
}

}  // namespace
}  // namespace lengthwise
