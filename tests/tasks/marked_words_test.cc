/// `position` and `distance`: what they ask, and that nothing but places tells the answer.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "core/error.h"
#include "core/text.h"
#include "tests/core/mistake.h"
#include "tests/tasks/draws.h"
#include "tests/tasks/oracle.h"

namespace lengthwise {
namespace {

const char* const kTasks[] = {"position", "position-unary", "distance", "distance-unary"};

bool of_one_mark(const std::string& task) {
  return task.starts_with("position");
}

/// The words between ` in ` and the question mark.
oracle::Strings words_of(const std::string& prompt) {
  return oracle::split(oracle::between(prompt, " in ", "?"), ' ');
}

/// Counted on fingers: every word from the one after `from` (the beginning where it is empty) up to `to`.
int64_t steps_between(const oracle::Strings& words, const std::string& from, const std::string& to) {
  int64_t steps = 0;
  bool counting = from.empty();
  for (const std::string& word : words) {
    if (counting) ++steps;
    if (word == to) return steps;
    counting = counting || word == from;
  }
  return -1;
}

int64_t counted(const std::string& task, const std::string& prompt) {
  const oracle::Strings words = words_of(prompt);
  return of_one_mark(task) ? steps_between(words, "", "X") : steps_between(words, "X", "Y");
}

int64_t number_in(const std::string& target) {
  const std::string numeral = oracle::between(target, "is", ".");
  const auto strokes = std::count(numeral.begin(), numeral.end(), 'I');
  return strokes > 0 ? strokes : oracle::number(numeral);
}

TEST(MarkedWords, WorkedOutByHand) {
  const auto solve = [](const char* task, const char* prompt) { return find_task(task).solve(prompt, {}); };
  EXPECT_EQ(solve("position", "Which place is marked in X ?"), "The answer is 1.");
  EXPECT_EQ(solve("position", "Which place is marked in w3 w3 X w20 ?"), "The answer is 3.");
  EXPECT_EQ(solve("position", "Which place is marked in w1 w2 w3 w4 w5 w6 w7 w8 w9 w10 w11 X ?"), "The answer is 1 2.");
  EXPECT_EQ(solve("distance", "How far apart are the marks in X Y ?"), "The answer is 1.");
  EXPECT_EQ(solve("distance", "How far apart are the marks in w5 X w1 w2 Y w9 ?"), "The answer is 3.");
  EXPECT_EQ(solve("distance", "How far apart are the marks in X w1 w2 w3 w4 w5 w6 w7 w8 w9 Y ?"), "The answer is 1 0.");
  EXPECT_EQ(solve("position-unary", "Which place is marked in w3 w3 X w20 ?"), "The answer is I I I.");
  EXPECT_EQ(solve("distance-unary", "How far apart are the marks in X w7 Y ?"), "The answer is I I.");
}

TEST(MarkedWords, StrokesAreCounted) {
  const Task& task = find_task("position-unary");
  EXPECT_TRUE(task.is_right("The answer is I I I.", "The answer is I I I."));
  EXPECT_FALSE(task.is_right("The answer is I I.", "The answer is I I I."));
  EXPECT_FALSE(task.is_right("The answer is 3.", "The answer is I I I."));
}

TEST(MarkedWords, GeneratorSolverAndFingersAgree) {
  for (const std::string name : kTasks) {
    const Task& task = find_task(name);
    for (const Split split : {Split::train, Split::test}) {
      Sampler sampler(task, split);
      for (int i = 0; i < 500; ++i) {
        Example example;
        task.generate(sampler.next(), {}, example);
        const int64_t answer = counted(name, example.prompt);
        ASSERT_EQ(number_in(example.target), answer) << example.prompt;
        ASSERT_EQ(task.solve(example.prompt, {}), example.target);
        ASSERT_EQ(static_cast<int64_t>(words_of(example.prompt).size()), example.length);
        const int64_t ten = (answer + 9) / 10;
        ASSERT_EQ(example.category, fmt::format("{}-at-{}:{}", example.length, 10 * ten - 9, 10 * ten));
      }
    }
  }
}

TEST(MarkedWords, EveryAnswerOfALengthIsEquallyLikely) {
  constexpr int64_t kCount = 20'000;
  constexpr int64_t kLength = 12;
  for (const std::string name : kTasks) {
    std::map<int64_t, int64_t> answers;
    for (int64_t i = 0; i < kCount; ++i) {
      ++answers[number_in(generate(find_task(name), {.length = kLength, .count = kCount}, i, Split::train).target)];
    }
    const int64_t possible = of_one_mark(name) ? kLength : kLength - 1;
    ASSERT_EQ(static_cast<int64_t>(answers.size()), possible);
    EXPECT_EQ(answers.begin()->first, 1);
    const double expected = static_cast<double>(kCount) / static_cast<double>(possible);
    for (const auto& [answer, count] : answers)
      EXPECT_NEAR(static_cast<double>(count), expected, 5 * std::sqrt(expected)) << name << " " << answer;
  }
}

/// A word says nothing of its place, nor of where the mark is: at each distance to either side all words are alike.
TEST(MarkedWords, OtherWordsDoNotDependOnTheMarks) {
  constexpr int64_t kCount = 20'000;
  constexpr size_t kLength = 6;
  std::map<int64_t, std::map<std::string, int64_t>> by_offset;
  for (int64_t i = 0; i < kCount; ++i) {
    const oracle::Strings words =
        words_of(generate(find_task("position"), {.length = kLength, .count = kCount}, i, Split::train).prompt);
    const int64_t mark = steps_between(words, "", "X") - 1;
    for (size_t place = 0; place < words.size(); ++place) {
      if (words[place] != "X") ++by_offset[static_cast<int64_t>(place) - mark][words[place]];
    }
  }
  EXPECT_EQ(by_offset.size(), 2 * kLength - 2);
  for (const auto& [offset, words] : by_offset) {
    EXPECT_EQ(words.size(), 20u);
    const int64_t total = std::accumulate(words.begin(), words.end(), int64_t{0},
                                          [](int64_t sum, const auto& entry) { return sum + entry.second; });
    const double expected = static_cast<double>(total) / 20;
    for (const auto& [word, count] : words)
      EXPECT_NEAR(static_cast<double>(count), expected, 5 * std::sqrt(expected)) << offset << " " << word;
  }
}

TEST(MarkedWords, TrainingHasExamplesInProportionToAnswersAndTestsEquallyMany) {
  for (const std::string name : kTasks) {
    const Task& task = find_task(name);
    const int64_t shortest = task.info().train.low;
    EXPECT_EQ(shortest, of_one_mark(name) ? 1 : 2);
    for (const Bin& bin : task.plan(task.info().train, 114'999, Split::train)) {
      const double answers = static_cast<double>(bin.length - shortest + 1);
      EXPECT_NEAR(static_cast<double>(bin.count), 114'999 * answers / (of_one_mark(name) ? 210 : 190), 1);
    }
    for (const Bin& bin : task.plan(task.info().test, 10'000, Split::test)) EXPECT_EQ(bin.count, 500);
  }
}

/// Without spaces between digits `37` would be a word that training never had.
TEST(MarkedWords, LongerAnswersAreMadeOfWordsOfTraining) {
  for (const std::string name : kTasks) {
    const Task& task = find_task(name);
    const auto words_of_split = [&](Split split) {
      std::set<std::string> words;
      Sampler sampler(task, split);
      Example example;
      for (int i = 0; i < 2000; ++i) {
        task.generate(sampler.next(), {}, example);
        for (const std::string& text : {example.prompt, example.target}) {
          for (const Piece& piece : split_pieces(text)) words.emplace(piece.text);
        }
      }
      return words;
    };
    EXPECT_EQ(words_of_split(Split::test), words_of_split(Split::train)) << name;
  }
}

TEST(MarkedWords, SaysWhatItCannotRead) {
  const auto mistake = [](const char* task, const std::string& prompt) {
    return mistake_of([&] { find_task(task).solve(prompt, {}); });
  };
  const std::string place = "Which place is marked in ";
  const std::string far = "How far apart are the marks in ";
  EXPECT_NE(mistake("position", place + "w1 w2 ?").find("there is no 'X'"), std::string::npos);
  EXPECT_NE(mistake("position", place + "X w2 X ?").find("'X' stands a second time"), std::string::npos);
  EXPECT_NE(mistake("position", place + "?").find("expected a word at word 6"), std::string::npos);
  EXPECT_NE(mistake("position", place + "X w1").find("expected '?'"), std::string::npos);
  EXPECT_NE(mistake("distance", far + "X w1 ?").find("there is no 'Y'"), std::string::npos);
  EXPECT_NE(mistake("distance", far + "w1 Y X ?").find("'Y' stands"), std::string::npos);
  EXPECT_NE(mistake_of([&] {
              find_task("distance").plan({1, 4}, 10, Split::train);
            }).find("at least 2 words"),
            std::string::npos);
}

}  // namespace
}  // namespace lengthwise
