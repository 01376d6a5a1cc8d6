// All batches of a set lie in one pass of their scorer, which ends with the last one or with an error.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "infer/teacher_forcing.h"

namespace lengthwise {
namespace {

class Watched : public Scorer {
 public:
  TargetScores score(const Batch& batch) override {
    EXPECT_EQ(begun, ended + 1) << "a batch outside of a pass";
    if (++batches == fails_at) fail("no more");
    return {at::zeros({batch.target_count()}), at::zeros({batch.target_count()}, at::kLong)};
  }
  int64_t token_budget() const override { return 8; }
  void begin_pass() override { ++begun; }
  void end_pass() override { ++ended; }

  int begun = 0, ended = 0, batches = 0, fails_at = 0;
};

TokenSet five_of_six_tokens() {
  TokenSet set;
  for (int i = 0; i < 5; ++i) {
    for (int32_t token = 1; token <= 6; ++token) set.tokens.push_back(token);
    set.offsets.push_back(static_cast<int64_t>(set.tokens.size()));
    set.prompt_tokens.push_back(3);
    set.length.push_back(1);
  }
  return set;
}

TEST(ScoringPass, HoldsAllBatchesOfASet) {
  const TokenSet set = five_of_six_tokens();
  Watched scorer;
  for (int passes = 1; passes <= 2; ++passes) {
    EXPECT_EQ(std::ssize(score_examples(scorer, set, all_examples(set))), 5);
    EXPECT_EQ(scorer.begun, passes);
    EXPECT_EQ(scorer.ended, passes);
  }
  EXPECT_EQ(scorer.batches, 10);
}

TEST(ScoringPass, EndsWithAnError) {
  const TokenSet set = five_of_six_tokens();
  Watched scorer;
  scorer.fails_at = 2;
  EXPECT_THROW(score_examples(scorer, set, all_examples(set)), UserError);
  EXPECT_EQ(scorer.begun, 1);
  EXPECT_EQ(scorer.ended, 1);
}

}  // namespace
}  // namespace lengthwise
