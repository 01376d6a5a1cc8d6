// Addition with numbers from their last digit on, and with markers before the digits.
#include <gtest/gtest.h>

#include <set>

#include "core/error.h"
#include "core/text.h"
#include "tasks/registry.h"
#include "tests/tasks/draws.h"

namespace lengthwise {
namespace {

std::string solve(const char* task, const char* prompt) {
  try {
    return find_task(task).solve(prompt, {});
  } catch (const UserError& error) {
    return error.what();
  }
}

TEST(ReversedAddition, WritesTheLastDigitFirst) {
  // 53 + 19 = 72, 100 + 5 = 105, 8 + 2 = 10.
  EXPECT_EQ(solve("addition-reversed", "Compute: 3 5 + 9 1 ?"), "The answer is 2 7.");
  EXPECT_EQ(solve("addition-reversed", "Compute 0 0 1 + 5 ?"), "The answer is 5 0 1.");
  EXPECT_EQ(solve("addition-reversed", "Compute: 8 + 2 ?"), "The answer is 0 1.");
}

TEST(ReversedAddition, TellsAnswersApartThatDifferInZeros) {
  const Task& task = find_task("addition-reversed");
  EXPECT_TRUE(task.is_right("The answer is 0 1.", "The answer is 0 1."));
  EXPECT_FALSE(task.is_right("The answer is 0 0 1.", "The answer is 0 1."));
  EXPECT_FALSE(task.is_right("The answer is 1.", "The answer is 0 1."));
}

TEST(ReversedAddition, AsksTheProblemsOfAddition) {
  const Task& plain = find_task("addition");
  const Task& reversed = find_task("addition-reversed");
  Sampler sampler(plain, Split::test);
  for (int i = 0; i < 100; ++i) {
    const Draw draw = sampler.next();
    Example one, other;
    plain.generate(draw, {}, one);
    reversed.generate(draw, {}, other);
    EXPECT_EQ(one.category, other.category);
    EXPECT_EQ(one.prompt.size(), other.prompt.size());
    const std::string numbers = one.prompt.substr(9, one.prompt.size() - 11);
    std::string backwards(other.prompt.substr(9, other.prompt.size() - 11));
    std::reverse(backwards.begin(), backwards.end());  // also puts the second number first
    const size_t plus = numbers.find('+'), its = backwards.find('+');
    EXPECT_EQ(numbers.substr(0, plus - 1), backwards.substr(its + 2));
    EXPECT_EQ(numbers.substr(plus + 2), backwards.substr(0, its - 1));
  }
}

TEST(IndexHints, StandBeforeEveryDigit) {
  EXPECT_EQ(solve("addition-reversed-hints", "Compute: h7 3 h8 5 + h7 9 h8 1 ?"), "The answer is h7 2 h8 7.");
  EXPECT_EQ(solve("addition-reversed-hints", "Compute: h0 5 + h0 5 ?"), "The answer is h0 0 h1 1.");
}

TEST(IndexHints, ThatAreWrongAreRefused) {
  EXPECT_EQ(solve("addition-reversed-hints", "Compute: 3 5 + 9 1 ?"),
            "cannot parse \"Compute: 3 5 + 9 1 ?\": expected a marker such as h7 before each digit");
  EXPECT_EQ(solve("addition-reversed-hints", "Compute: h7 3 h9 5 + h7 9 ?"),
            "cannot parse \"Compute: h7 3 h9 5 + h7 9 ?\": expected markers h7 and so on before the digits of each "
            "number");
  EXPECT_THROW(find_task("addition-reversed-hints").plan({1, 128}, 100, Split::test), UserError);
  EXPECT_THROW(find_task("addition-reversed").solve("Compute: 3 + 9 ?", {.input = true}), UserError);
}

TEST(IndexHints, BeginAnywhere) {
  const Task& task = find_task("addition-reversed-hints");
  Sampler sampler(task, Split::train);
  std::set<std::string> first;
  for (int i = 0; i < 300; ++i) {
    Example example;
    task.generate(sampler.next(), {}, example);
    first.emplace(split_words(example.prompt)[1]);
  }
  EXPECT_GT(first.size(), 60U);
}

}  // namespace
}  // namespace lengthwise
