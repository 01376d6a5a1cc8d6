#include "ranking/perplexity_ranking.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lengthwise {
namespace {

Score run(const std::string& encoding, const std::string& seed, double at_once, double at_twice) {
  Score score;
  score.split = "books";
  score.category = "text";
  score.encoding = encoding;
  score.seed = seed;
  score.train_limit = 128;
  score.lengths = {{128, true, 10, 5, 9.0}, {128, false, 10, 5, at_once}, {256, false, 10, 4, at_twice}};
  return score;
}

TEST(PerplexityRanking, GoesByTheLongerContexts) {
  Score task = run("rope", "1", 0, 0);
  task.category = "primitive";
  task.split = "copy";
  const std::vector<PerplexityRanking> rankings =
      rank_perplexity({task, run("rope", "1", 1.0, 2.0), run("alibi", "1", 1.2, 1.1), run("rope", "2", 1.1, 2.4),
                       run("alibi", "2", 1.3, 1.2), run("nope", "1", 1.5, 3.0)});
  ASSERT_EQ(rankings.size(), 1u);
  const PerplexityRanking& books = rankings[0];
  EXPECT_EQ(books.trained, 128);
  EXPECT_EQ(books.contexts, (std::vector<int64_t>{128, 256}));
  ASSERT_EQ(books.rows.size(), 3u);
  EXPECT_EQ(books.rows[0].encoding, "alibi");
  EXPECT_EQ(books.rows[1].encoding, "rope");
  EXPECT_EQ(books.rows[2].encoding, "nope");
  EXPECT_EQ(books.rows[0].mean_rank, 1);
  EXPECT_EQ(books.rows[0].places[0].rank, 2) << "at the trained context rope is better";
  EXPECT_EQ(books.rows[1].places[1].seeds, 2);
  EXPECT_NEAR(books.rows[1].places[1].perplexity(), std::exp(2.2), 1e-12);
  EXPECT_EQ(books.rows[1].places[1].most, 2.4);
  const std::string text = perplexity_tables(rankings);
  EXPECT_NE(text.find("256 (2x)"), std::string::npos) << text;
  EXPECT_NE(text.find("9.025 (7.389-11.023)"), std::string::npos) << text;
}

TEST(PerplexityRanking, AnswersInASentence) {
  const auto answer = [](const std::vector<Score>& scores) { return perplexity_answer(rank_perplexity(scores)); };
  const double ppl2 = std::log(2.0), ppl3 = std::log(3.0), ppl4 = std::log(4.0);
  EXPECT_EQ(answer({run("alibi", "1", ppl3, ppl2), run("rope", "1", ppl2, ppl4)}),
            "ALiBi reads contexts longer than the 128 tokens of training best (mean rank 1.00, ahead of RoPE with "
            "2.00): its perplexity is 2.00 at 256 tokens (2 times as many; 3.00 at the trained length), that of RoPE "
            "4.00; with one seed a small lead says little. Windows without overlap.");
  const std::vector<Score> seeds = {run("alibi", "1", ppl3, ppl2), run("rope", "1", ppl2, ppl3),
                                    run("alibi", "2", ppl3, ppl4), run("rope", "2", ppl2, ppl4)};
  EXPECT_NE(answer(seeds).find("; the 2 seeds of the two overlap, so that the lead could be chance."),
            std::string::npos);
  EXPECT_EQ(answer({run("alibi", "1", ppl3, ppl2)}), "") << "nothing to compare it with";
}

TEST(PerplexityRanking, NeedsText) {
  Score unknown = run("rope", "1", 1, 2);
  unknown.train_limit.reset();
  EXPECT_TRUE(rank_perplexity({unknown}).empty());
  EXPECT_EQ(perplexity_tables({}), "");
}

}  // namespace
}  // namespace lengthwise
