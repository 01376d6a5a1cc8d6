// Positions by rule, against examples made by hand.
#include "data/placing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/error.h"
#include "data/data_set.h"
#include "tasks/registry.h"

namespace lengthwise {
namespace {

using Positions = std::vector<double>;

const std::vector<int32_t> kPrompt{1, 7, 8, 9, 2};

Placing randomized(int64_t max, int64_t room = 2) {
  return {.rules = {{.kind = PositionKind::randomized, .max = max, .room = room}}, .glossary = nullptr};
}

Positions place(const Placing& placing, const std::vector<int32_t>& tokens, const PositionDraw& draw) {
  return placing.place(0, tokens, std::ssize(kPrompt), draw);
}

std::vector<int32_t> with_answer(int64_t tokens) {
  std::vector<int32_t> text = kPrompt;
  text.resize(kPrompt.size() + static_cast<size_t>(tokens), 5);
  return text;
}

TEST(RandomPositions, AreAnAscendingSubset) {
  for (int64_t step = 0; step < 200; ++step) {
    const Positions drawn = place(randomized(20), with_answer(5), PositionDraw::training(Rng(1), step, 3));
    ASSERT_EQ(drawn.size(), 10U);
    EXPECT_TRUE(std::ranges::is_sorted(drawn));
    EXPECT_EQ(std::set<double>(drawn.begin(), drawn.end()).size(), 10U);
    EXPECT_GE(drawn.front(), 0);
    EXPECT_LT(drawn.back(), 20);
  }
}

// The i-th smallest of n out of 0..max-1 is (i + 1) (max + 1) / (n + 1) - 1 on average.
TEST(RandomPositions, AreUniform) {
  Positions sums(10);
  constexpr int64_t kDraws = 4000;
  for (int64_t step = 0; step < kDraws; ++step) {
    const Positions drawn = place(randomized(100), with_answer(5), PositionDraw::training(Rng(1), step, 3));
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += drawn[i];
  }
  for (size_t i = 0; i < sums.size(); ++i) {
    EXPECT_NEAR(sums[i] / kDraws, static_cast<double>(i + 1) * 101 / 11 - 1, 1) << i;
  }
}

TEST(RandomPositions, DependOnSeedStepAndExampleAlone) {
  const auto drawn = [](uint64_t seed, int64_t step, int64_t example) {
    return place(randomized(512), with_answer(5), PositionDraw::training(Rng(seed), step, example));
  };
  EXPECT_EQ(drawn(1, 2, 3), drawn(1, 2, 3));
  EXPECT_NE(drawn(1, 2, 3), drawn(2, 2, 3));
  EXPECT_NE(drawn(1, 2, 3), drawn(1, 3, 3));
  EXPECT_NE(drawn(1, 2, 3), drawn(1, 2, 4));
}

TEST(RandomPositions, OutsideTrainingDependOnThePromptAlone) {
  const Placing placing = randomized(512);
  const Positions whole = place(placing, with_answer(5), PositionDraw::fixed(kPrompt));
  for (int64_t answer = 0; answer < 5; ++answer) {
    const Positions part = place(placing, with_answer(answer), PositionDraw::fixed(kPrompt));
    EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin())) << answer;
  }
  const std::vector<int32_t> other{1, 7, 9, 8, 2};
  EXPECT_NE(place(placing, with_answer(5), PositionDraw::fixed(other)), whole);
}

TEST(RandomPositions, AreTheIndexWhereThereIsRoomForNothingElse) {
  EXPECT_EQ(place(randomized(10), with_answer(5), PositionDraw::fixed(kPrompt)),
            (Positions{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(RandomPositions, PastTheRoomStandAtTheEnd) {
  const Positions drawn = place(randomized(512), with_answer(600), PositionDraw::fixed(kPrompt));
  ASSERT_EQ(drawn.size(), 605U);
  EXPECT_TRUE(std::ranges::is_sorted(drawn));
  EXPECT_EQ(drawn[10], drawn[9] + 1);
  EXPECT_EQ(drawn.back(), 511);
}

TEST(RandomFloats, AscendBelowTheMaximum) {
  const Placing placing{.rules = {{.kind = PositionKind::random_float, .max = 8, .room = 2}}, .glossary = nullptr};
  for (int64_t step = 0; step < 100; ++step) {
    const Positions drawn = place(placing, with_answer(30), PositionDraw::training(Rng(1), step, 0));
    EXPECT_EQ(std::set<double>(drawn.begin(), drawn.end()).size(), drawn.size());
    EXPECT_TRUE(std::ranges::is_sorted(drawn));
    EXPECT_GE(drawn.front(), 0);
    EXPECT_LT(drawn.back(), 8);
  }
}

/// `<bos> prompt <sep> target` and how many tokens stand before the target.
struct Text {
  std::vector<int32_t> tokens;
  int64_t prompt = 0;
};

Text text_of(const Vocabulary& vocabulary, const std::string& prompt, const std::string& target) {
  Text text{{Vocabulary::kBos}};
  vocabulary.encode(prompt, text.tokens);
  text.tokens.push_back(Vocabulary::kSep);
  text.prompt = std::ssize(text.tokens);
  vocabulary.encode(target, text.tokens);
  return text;
}

class ByContent : public testing::Test {
 protected:
  Placing placing(PositionKind kind, int64_t max, int64_t shift = 0) const {
    return {.rules = {{.kind = kind, .max = max, .shift = shift}},
            .glossary = std::make_shared<Glossary>(vocabulary_, &task_)};
  }
  Positions place(const Placing& placing, const PositionDraw& draw) const {
    return placing.place(0, text_.tokens, text_.prompt, draw);
  }
  Positions place(const Placing& placing) const { return place(placing, PositionDraw::fixed(kPrompt)); }

  const Task& task_ = find_task("addition-reversed");
  Vocabulary vocabulary_{task_, Wording::printed};
  /// 953 + 71 = 1024.
  Text text_ = text_of(vocabulary_, "Compute: 3 5 9 + 1 7 ?", "The answer is 4 2 0 1.");
};

// Abacus: 1 + the place of a digit in its number, 0 for anything else.
TEST_F(ByContent, DigitsCountWithinTheirNumber) {
  //                 <bos> Compute :  3  5  9  +  1  7  ? <sep> The answer is 4  2  0  1  .
  const Positions wanted{0, 0, 0, 1, 2, 3, 0, 1, 2, 0, 0, 0, 0, 0, 1, 2, 3, 4, 0};
  EXPECT_EQ(place(placing(PositionKind::digits, 128)), wanted);
}

TEST_F(ByContent, DigitsOfAStepMoveTogetherInTraining) {
  const Placing moving = placing(PositionKind::digits, 128, 99);
  const Positions still = place(moving);
  std::set<double> shifts;
  for (int64_t step = 0; step < 50; ++step) {
    const Positions one = place(moving, PositionDraw::training(Rng(1), step, 0));
    EXPECT_EQ(one, place(moving, PositionDraw::training(Rng(1), step, 17))) << "one shift for a step";
    const double shift = one[3] - 1;
    shifts.insert(shift);
    EXPECT_GE(shift, 0);
    EXPECT_LE(shift, 99);
    for (size_t i = 0; i < one.size(); ++i) EXPECT_EQ(one[i], still[i] == 0 ? 0 : still[i] + shift);
  }
  EXPECT_GT(shifts.size(), 20U);
}

// Digits of the same significance have the same position, the signs the one before them.
TEST_F(ByContent, CoupledPositionsAreThoseOfSignificance) {
  //                 <bos> Compute :  3  5  9  +  1  7  ? <sep> The answer is 4  2  0  1  .
  const Positions wanted{0, 0, 0, 2, 3, 4, 1, 2, 3, 1, 0, 0, 0, 0, 2, 3, 4, 5, 0};
  const Placing coupled = placing(PositionKind::coupled, 64);
  EXPECT_EQ(place(coupled), wanted);
  std::set<double> starts;
  for (int64_t example = 0; example < 200; ++example) {
    const Positions moved = place(coupled, PositionDraw::training(Rng(1), 0, example));
    const double by = moved[3] - 2;
    starts.insert(by);
    for (size_t i = 0; i < moved.size(); ++i) EXPECT_EQ(moved[i], wanted[i] == 0 ? 0 : wanted[i] + by);
  }
  EXPECT_EQ(*starts.begin(), 0);
  EXPECT_EQ(*starts.rbegin(), 58) << "the largest position is 63";
}

// What is being written has the positions that it will have when it is read.
TEST_F(ByContent, DoNotDependOnWhatFollows) {
  for (const PositionKind kind : {PositionKind::digits, PositionKind::coupled}) {
    const Placing by_content = placing(kind, 64);
    const Positions whole = place(by_content);
    for (size_t length = static_cast<size_t>(text_.prompt); length < text_.tokens.size(); ++length) {
      const Positions part =
          by_content.place(0, std::span(text_.tokens).first(length), text_.prompt, PositionDraw::fixed(kPrompt));
      EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin())) << length;
    }
  }
}

// In the study's tokens the last digit and the period are one, and 0 has a space of its own before it.
TEST(StudyTokens, HaveTheSamePositionsByContent) {
  const Task& task = find_task("addition-reversed");
  const Vocabulary vocabulary(task, Wording::released);
  const Text text = text_of(vocabulary, "Compute 3 5 9 + 1 7 ?", "The answer is 4 2 0 1.");
  const Placing placing{
      .rules = {{.kind = PositionKind::digits, .max = 64}, {.kind = PositionKind::coupled, .max = 64}},
      .glossary = std::make_shared<Glossary>(vocabulary, &task)};
  const auto seen = [&](size_t rule) {
    Positions digits;
    for (const double position : placing.place(rule, text.tokens, text.prompt, PositionDraw::fixed(kPrompt))) {
      if (position > 0) digits.push_back(position);
    }
    return digits;
  };
  EXPECT_EQ(seen(0), (Positions{1, 2, 3, 1, 2, 1, 2, 3, 4}));
  EXPECT_EQ(seen(1), (Positions{2, 3, 4, 1, 2, 3, 1, 2, 3, 4, 5}));
}

std::string refusal(PositionKind kind, const std::string& task, int64_t max = 128) {
  const Task& which = find_task(task);
  const Vocabulary vocabulary(which, Wording::printed);
  const Placing placing{.rules = {{.kind = kind, .max = max}},
                        .glossary = std::make_shared<Glossary>(vocabulary, &which)};
  DataConfig config;
  config.task = task;
  config.train_count = 200;
  config.test_count = 100;
  try {
    placing.check("this");
    placing.check("this", build_data_set(config, 1).test);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(PositionsByContent, AreRefusedWhereThereAreNone) {
  EXPECT_EQ(refusal(PositionKind::digits, "addition"), "");
  EXPECT_EQ(refusal(PositionKind::coupled, "addition-reversed"), "");
  EXPECT_EQ(refusal(PositionKind::coupled, "sort"),
            "the encoding this: the task sort does not say which tokens belong together; these do: addition-reversed, "
            "addition-reversed-hints");
  EXPECT_EQ(refusal(PositionKind::digits, "scan"),
            "the encoding this goes by digits, but no token of these data is one");
  EXPECT_EQ(refusal(PositionKind::digits, "addition", 12),
            "the encoding this has 12 positions, but an example needs 13; raise its max");
}

}  // namespace
}  // namespace lengthwise
