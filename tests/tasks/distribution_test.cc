// What the problems are drawn from.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "core/text.h"
#include "tests/tasks/draws.h"
#include "tests/tasks/oracle.h"

namespace lengthwise {
namespace {

using Histogram = std::map<std::string, int64_t>;

/// Each of `size` values occurs about equally often: chi squared within six standard deviations of its mean.
void expect_uniform(const Histogram& histogram, size_t size) {
  ASSERT_EQ(histogram.size(), size);
  int64_t total = 0;
  for (const auto& [value, count] : histogram) total += count;
  const double expected = static_cast<double>(total) / static_cast<double>(size);
  double chi = 0;
  for (const auto& [value, count] : histogram) {
    const double difference = static_cast<double>(count) - expected;
    chi += difference * difference / expected;
  }
  const auto freedom = static_cast<double>(size - 1);
  EXPECT_LT(std::abs(chi - freedom), 6 * std::sqrt(2 * freedom)) << "chi squared " << chi;
}

/// Calls use(prompt) for `count` problems of one length.
template <class Use>
void for_each_prompt(std::string_view name, int64_t length, int64_t count, Use&& use, Split split = Split::test,
                     Wording wording = Wording::printed) {
  const Task& task = find_task(name);
  const Bin bin{.length = length, .first = length, .second = length, .count = count};
  for (int64_t i = 0; i < count; ++i) use(generate(task, bin, i, split, {.wording = wording}).prompt);
}

TEST(Distribution, CopyAndReverseUseAHundredWordsAlike) {
  for (const char* name : {"copy", "copy-cmc2x", "reverse", "reverse-mc2x", "reverse-mcrv"}) {
    SCOPED_TRACE(name);
    Histogram words;
    for_each_prompt(name, 20, 1000, [&](const std::string& prompt) {
      for (const std::string& word : oracle::copy_words(prompt)) ++words[word];
    });
    expect_uniform(words, 100);
    EXPECT_TRUE(words.count("w1") && words.count("w100"));
  }
}

TEST(Distribution, APoolRepeatsEveryWordOnce) {
  for (const char* name : {"copy-rsc", "copy-rsc2x"}) {
    std::set<std::string> words;
    for_each_prompt(
        name, 3, 6052, [&](const std::string& prompt) { words.insert(oracle::copy_words(prompt)[2]); }, Split::train);
    EXPECT_EQ(words.size(), 6052u);
    EXPECT_TRUE(words.count("w1") && words.count("w6052"));
  }
}

TEST(Distribution, APoolReplacesEveryPairOnce) {
  std::set<std::pair<std::string, std::string>> pairs;
  for_each_prompt(
      "copy-rdc", 2, 6006,
      [&](const std::string& prompt) {
        const oracle::Strings words = oracle::split(prompt, ' ');
        EXPECT_NE(words[1], words[3]);
        pairs.emplace(words[1], words[3]);
      },
      Split::train);
  EXPECT_EQ(pairs.size(), 6006u);
}

TEST(Distribution, ASmallPoolIsAFairSample) {
  Histogram from, to;
  std::set<std::string> prompts;
  for_each_prompt(
      "copy-rdc", 2, 400,
      [&](const std::string& prompt) {
        const oracle::Strings words = oracle::split(prompt, ' ');
        ++from[words[1]];
        ++to[words[3]];
        prompts.insert(prompt);
      },
      Split::train);
  EXPECT_EQ(prompts.size(), 400u);
  EXPECT_GT(from.size(), 70u);
  EXPECT_GT(to.size(), 70u);
}

TEST(Distribution, ATestHasEveryRepetitionOnceBeforeAnyTwice) {
  for (const auto& [name, problems] :
       std::map<std::string, size_t>{{"copy-rsc", 6052}, {"copy-rsc2x", 6052}, {"copy-rdc", 6006}}) {
    SCOPED_TRACE(name);
    std::vector<std::string> prompts;
    for_each_prompt(name, 21, 2 * static_cast<int64_t>(problems),
                    [&](const std::string& prompt) { prompts.push_back(prompt); });
    const auto middle = prompts.begin() + static_cast<std::ptrdiff_t>(problems);
    EXPECT_EQ(std::set(prompts.begin(), middle).size(), problems);
    EXPECT_EQ(std::set(middle, prompts.end()).size(), problems);
    EXPECT_FALSE(std::equal(prompts.begin(), middle, middle)) << "the same order again";
  }
}

TEST(Distribution, ATestIsAFairSampleOfTheRepetitions) {
  // The first of each bin, and of the words the first, over many bins: each word as often as the others.
  const Task& task = find_task("copy-rdc");
  Histogram from, to;
  for (uint64_t seed = 0; seed < 5000; ++seed) {
    Example example;
    task.generate({.bin = {.length = 2, .count = 10}, .index = 3, .split = Split::test, .rng = Rng(seed)}, {}, example);
    const oracle::Strings words = oracle::split(example.prompt, ' ');
    ++from[words[1]];
    ++to[words[3]];
  }
  expect_uniform(from, 78);
  expect_uniform(to, 78);
}

TEST(Distribution, TheFirstVersionDrewTestsWithReplacement) {
  const Task& task = find_task("copy-rsc");
  std::set<std::string> words;
  for (int64_t index = 0; index < 6052; ++index) {
    Example example;
    task.generate(
        {.bin = {.length = 2, .count = 6052}, .index = index, .split = Split::test, .rng = Rng(1), .version = 1}, {},
        example);
    words.insert(oracle::copy_words(example.prompt)[0]);
  }
  EXPECT_NEAR(static_cast<double>(words.size()), 6052 * (1 - std::exp(-1.0)), 150);
}

TEST(Distribution, AdditionDrawsNumbersOfTheBinsDigits) {
  Histogram one_digit, leading;
  for_each_prompt("addition", 1, 5000, [&](const std::string& prompt) { ++one_digit[oracle::addends(prompt)[0]]; });
  for_each_prompt("addition", 3, 5000, [&](const std::string& prompt) {
    ASSERT_EQ(oracle::addends(prompt)[1].size(), 3u);
    ++leading[oracle::addends(prompt)[1].substr(0, 1)];
  });
  expect_uniform(one_digit, 10);
  expect_uniform(leading, 9);
}

TEST(Distribution, Polynomial) {
  Histogram x, coefficient, degree;
  for_each_prompt("polynomial", 4, 5000, [&](const std::string& prompt) {
    ++x[oracle::between(prompt, "x = ", " in")];
    for (const std::string& term : oracle::terms(prompt)) {
      ++coefficient[term.substr(0, term.find('x'))];
      ++degree[term.substr(term.find("**") + 2)];
    }
  });
  expect_uniform(x, 5);
  expect_uniform(coefficient, 7);
  expect_uniform(degree, 4);
  EXPECT_TRUE(x.count("- 2") && x.count("2") && coefficient.count("-3") && coefficient.count("3") && degree.count("0"));
}

TEST(Distribution, Sort) {
  for (const Wording wording : {Wording::printed, Wording::released}) {
    Histogram items;
    for_each_prompt(
        "sort", 8, 2000,
        [&](const std::string& prompt) {
          for (const std::string& item : oracle::sort_items("sort", prompt)) ++items[item];
        },
        Split::test, wording);
    expect_uniform(items, 50);
    EXPECT_EQ(items.count(wording == Wording::printed ? "0" : "O"), 1u);
    EXPECT_EQ(items.count(wording == Wording::printed ? "49" : "A"), 1u);
  }
  int64_t smallest = INT64_MAX, largest = 0;
  double sum = 0;
  for_each_prompt("sort-multi", 16, 10'000, [&](const std::string& prompt) {
    for (const std::string& item : oracle::sort_items("sort-multi", prompt)) {
      smallest = std::min<int64_t>(smallest, oracle::number(item));
      largest = std::max<int64_t>(largest, oracle::number(item));
      sum += static_cast<double>(oracle::number(item));
    }
  });
  EXPECT_EQ(smallest, 10);
  EXPECT_EQ(largest, 9999);
  EXPECT_NEAR(sum / 160'000, (10 + 9999) / 2.0, 6 * 2884 / 400.0);
}

TEST(Distribution, SummationAndParity) {
  Histogram digits, bits;
  for_each_prompt("summation", 8, 2000, [&](const std::string& prompt) {
    for (const std::string& digit : oracle::summands(prompt)) ++digits[digit];
  });
  expect_uniform(digits, 9);
  EXPECT_EQ(digits.count("0"), 0u);
  for_each_prompt("parity", 4, 8000, [&](const std::string& prompt) { ++bits[oracle::bits(prompt)]; });
  expect_uniform(bits, 16);
}

TEST(Distribution, LegoAsksEveryChainForItsSecondHalf) {
  for (const int64_t length : {2, 3, 4, 7, 8, 13, 26}) {
    SCOPED_TRACE(length);
    std::vector<std::string> chains, queries;
    for_each_prompt("lego", length, 3 * (length / 2), [&](const std::string& prompt) {
      chains.push_back(prompt.substr(0, prompt.find('.')));
      queries.push_back(std::string(1, prompt[prompt.size() - 2]));
    });
    const auto each = static_cast<size_t>(length / 2);
    for (size_t i = 0; i < chains.size(); ++i) {
      ASSERT_EQ(chains[i], chains[i - i % each]);
      const auto clause = oracle::clauses(chains[i] + ".")[static_cast<size_t>(length) - each + i % each];
      EXPECT_EQ(queries[i], clause.substr(0, 1));
    }
    EXPECT_NE(chains[0], chains[each]);
  }
}

TEST(Distribution, LegoDrawsLettersAndSignsAlike) {
  Histogram letters, signs;
  for_each_prompt("lego", 8, 4000, [&](const std::string& prompt) {
    const oracle::Strings clauses = oracle::clauses(prompt);
    ++letters[clauses[0].substr(0, 1)];
    ++signs[clauses[0].substr(2, 1) + clauses[5].substr(2, 1)];
  });
  // Four examples share a chain.
  for (auto* histogram : {&letters, &signs}) {
    for (auto& [value, count] : *histogram) count /= 4;
  }
  expect_uniform(letters, 26);
  expect_uniform(signs, 4);
}

TEST(Distribution, LegoCategoriesNameTheQuery) {
  const Bin bin{.length = 5, .count = 2};
  EXPECT_EQ(generate(find_task("lego"), bin, 0, Split::train).category, "5-at-3");
  EXPECT_EQ(generate(find_task("lego"), bin, 1, Split::train).category, "5-at-4");
  EXPECT_EQ(generate(find_task("parity"), bin, 1, Split::train).category, "5");
}

}  // namespace
}  // namespace lengthwise
