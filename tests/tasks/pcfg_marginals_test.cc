// Drawn PCFG problems resemble the public corpus: lengths, functions, literals and the function at the root.
//
// What is known of the corpus are means over its files, rounded. A mean of ours may differ from one of the corpus by
// half a unit of its last digit and by three standard errors of a mean over that many problems, which both have.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <set>

#include "core/text.h"
#include "tasks/registry.h"

namespace lengthwise {
namespace {

const std::set<std::string_view> kBinary{"append", "prepend", "remove_first", "remove_second"};

struct Problem {
  std::vector<std::string_view> words;
  int64_t functions = 0;
  int64_t binary = 0;
  bool binary_root = false;
  std::vector<size_t> literals;  ///< symbols of each
  size_t target = 0;
};

bool is_symbol(std::string_view word) {
  return word[0] >= 'A' && word[0] <= 'Z';
}

Problem measured(const Example& example) {
  Problem problem;
  problem.words = split_words(example.prompt);
  problem.target = split_words(example.target).size();
  problem.binary_root = kBinary.contains(problem.words.front());
  bool in_literal = false;
  for (const std::string_view word : problem.words) {
    if (is_symbol(word)) {
      if (!in_literal) problem.literals.push_back(0);
      ++problem.literals.back();
    } else if (word != ",") {
      ++problem.functions;
      problem.binary += kBinary.contains(word) ? 1 : 0;
    }
    in_literal = is_symbol(word);
  }
  return problem;
}

/// Calls use(example, problem) for the problems of `sets` default training or test sets.
template <class Use>
void for_each_problem(Split split, uint64_t sets, Use&& use) {
  const Task& task = find_task("pcfg");
  const TaskInfo& info = task.info();
  const bool test = split == Split::test;
  const int64_t count = test ? info.test_count : info.train_count + *info.validation_count;
  Example example;
  for (uint64_t set = 0; set < sets; ++set) {
    for (const Bin& bin : task.plan(test ? info.test : info.train, count, split)) {
      const Rng rng = Rng(set).stream(fmt::format("pcfg {}", bin.length));
      for (int64_t index = 0; index < bin.count; ++index) {
        task.generate({.bin = bin, .index = index, .split = split, .rng = rng}, {}, example);
        use(example, measured(example));
      }
    }
  }
}

/// The mean of one number per problem, and how far it may be from the corpus's.
class Mean {
 public:
  void add(double value) {
    ++count_;
    sum_ += value;
    squares_ += value * value;
  }
  /// `problems`: how many the corpus's mean is over; `unit` is that of its last digit.
  void expect(double corpus, double unit, double problems, const char* what) const {
    const double mean = sum_ / count_;
    const double deviation = std::sqrt(squares_ / count_ - mean * mean);
    EXPECT_NEAR(mean, corpus, unit / 2 + 3 * deviation * std::sqrt(1 / problems + 1 / count_)) << what;
    testing::Test::RecordProperty(what, std::to_string(mean));
  }

 private:
  double count_ = 0;
  double sum_ = 0;
  double squares_ = 0;
};

TEST(PcfgMarginals, OfNineFunctionsAndMoreAreThoseOfTheCorpus) {
  constexpr double kProblems = 11'333;
  Mean words, target, root, binary;
  std::array<Mean, 6> literals;
  size_t longest = 0;
  double mean_functions = 0;
  for_each_problem(Split::test, 10, [&](const Example& example, const Problem& problem) {
    ASSERT_EQ(problem.functions, example.length);
    words.add(static_cast<double>(problem.words.size()));
    target.add(static_cast<double>(problem.target));
    root.add(problem.binary_root ? 1 : 0);
    mean_functions += static_cast<double>(problem.functions) / (10 * kProblems);
    // The share of all functions is the mean of binary - share * functions, which is 0, over the mean of functions.
    binary.add(static_cast<double>(problem.binary) - 0.334 * static_cast<double>(problem.functions));
    for (const size_t size : problem.literals) {
      ASSERT_TRUE(2 <= size && size <= 5) << example.prompt;
      for (size_t i = 2; i <= 5; ++i) literals[i].add(size == i ? 1 : 0);
    }
    longest = std::max(longest, problem.words.size());
  });
  words.expect(32.9, .1, kProblems, "words");
  target.expect(15.4, .1, kProblems, "target");
  root.expect(.51, .01, kProblems, "binary_root");
  binary.expect(0, .001 * mean_functions, kProblems, "binary_beyond_share");
  EXPECT_EQ(longest, 71u);
  const double corpus_literals = kProblems * (1 + .334 * mean_functions);
  const std::array<double, 6> shares{0, 0, .17, .29, .28, .27};
  for (size_t i = 2; i <= 5; ++i) literals[i].expect(shares[i], .01, corpus_literals, "literal");
}

TEST(PcfgMarginals, OfAllAreThoseOfTheCorpus) {
  constexpr double kProblems = 14'581;  // the files that the corpus was measured on
  const std::map<int64_t, double> shares{{1, .018}, {2, .146}, {3, .221}, {4, .215},
                                         {5, .151}, {6, .117}, {7, .076}, {8, .058}};
  Mean words, binary;
  std::map<std::string, double> functions;
  std::map<int64_t, double> lengths;
  std::set<std::string> symbols;
  double all = 0;
  double problems = 0;
  size_t longest_target = 0;
  const auto count = [&](const Example& example, const Problem& problem) {
    ++problems;
    ++lengths[example.length];
    words.add(static_cast<double>(problem.words.size()));
    binary.add(static_cast<double>(problem.binary) - 0.397 * static_cast<double>(problem.functions));
    longest_target = std::max(longest_target, problem.target);
    for (const std::string_view word : problem.words) {
      if (is_symbol(word)) {
        symbols.emplace(word);
      } else if (word != ",") {
        ++functions[std::string(word)];
        ++all;
      }
    }
  };
  for_each_problem(Split::train, 1, count);
  EXPECT_EQ(problems, 81'010);
  for (const auto& [length, share] : shares) EXPECT_NEAR(lengths[length] / problems, share, .02 * share) << length;
  for_each_problem(Split::test, 1, count);
  EXPECT_EQ(problems, 81'010 + 11'333);

  words.expect(18.3, .1, kProblems, "words");
  binary.expect(0, .001 * all / problems, kProblems, "binary_beyond_share");
  EXPECT_EQ(functions.size(), 10u);
  for (const auto& [name, number] : functions) EXPECT_NEAR(number / all, .1, .02 * .1) << name;
  EXPECT_EQ(symbols.size(), 520u);
  EXPECT_LE(longest_target, 736u);
}

}  // namespace
}  // namespace lengthwise
