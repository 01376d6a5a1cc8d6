#include "infer/rounds.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace lengthwise {
namespace {

/// A model that writes its prompt's first token as often as the second says, and then ends.
struct Repeater {
  std::vector<size_t> batches;  ///< their sizes
  int64_t steps = 0;            ///< of the longest in each, summed

  void operator()(std::span<const std::vector<int32_t>> texts, int64_t limit, std::span<std::vector<int32_t>> answers) {
    batches.push_back(texts.size());
    int64_t most = 0;
    for (size_t i = 0; i < texts.size(); ++i) {
      const auto have = static_cast<int64_t>(texts[i].size());
      const int64_t wanted = 2 + texts[i][1];
      const int64_t count = std::max<int64_t>(0, std::min(limit, wanted) - have);
      answers[i].assign(static_cast<size_t>(count), texts[i][0]);
      most = std::max(most, count);
    }
    steps += most;
  }
};

/// Answers and what it took, of prompts that ask for these lengths.
std::pair<std::vector<size_t>, Repeater> run(const std::vector<int32_t>& lengths, int64_t batch, int64_t limit) {
  std::vector<std::vector<int32_t>> prompts;
  for (const int32_t length : lengths) prompts.push_back({7, length});
  std::vector<std::vector<int32_t>> answers(prompts.size());
  Repeater model;
  std::vector<int64_t> done;
  generate_in_rounds(
      prompts, batch, limit, answers, [&](auto texts, int64_t stop, auto written) { model(texts, stop, written); },
      [&](int64_t count) { done.push_back(count); });
  EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
  EXPECT_EQ(done.empty() ? 0 : done.back(), static_cast<int64_t>(lengths.size()));
  std::vector<size_t> sizes;
  for (const auto& answer : answers) {
    EXPECT_EQ(std::count(answer.begin(), answer.end(), 7), static_cast<std::ptrdiff_t>(answer.size()));
    sizes.push_back(answer.size());
  }
  return {sizes, model};
}

TEST(Rounds, GiveEveryAnswerInFull) {
  const auto [sizes, model] = run({0, 5, 31, 32, 33, 64, 160, 161, 700, 1000}, 3, 802);
  EXPECT_EQ(sizes, (std::vector<size_t>{0, 5, 31, 32, 33, 64, 160, 161, 700, 800}));
}

TEST(Rounds, AFewEndlessSequencesDoNotHoldUpEveryBatch) {
  std::vector<int32_t> lengths(100, 4);
  for (size_t i = 0; i < lengths.size(); i += 10) lengths[i] = 500;
  const auto [sizes, model] = run(lengths, 10, 300);
  EXPECT_EQ(std::count(sizes.begin(), sizes.end(), 298u), 10);
  EXPECT_EQ(model.batches, std::vector<size_t>(12, 10));
  EXPECT_EQ(model.steps, 10 * 32 + 266);
}

TEST(Rounds, OfNothingAreNone) {
  EXPECT_TRUE(run({}, 4, 10).second.batches.empty());
}

}  // namespace
}  // namespace lengthwise
