#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "core/error.h"
#include "core/text.h"
#include "tasks/registry.h"

namespace lengthwise {
namespace {

using Words = std::vector<std::string>;

const Task& pcfg_task() {
  return find_task("pcfg");
}

std::string solve(std::string_view prompt) {
  return pcfg_task().solve(prompt, {});
}

std::string error_of(std::string_view prompt) {
  try {
    return "solved: " + solve(prompt);
  } catch (const UserError& error) {
    return error.what();
  }
}

std::string times(int count, std::string_view text) {
  std::string result;
  for (int i = 0; i < count; ++i) result += text;
  return result;
}

template <class Use>
void for_each_example(LengthRange lengths, int64_t count, Wording wording, Use&& use) {
  Example example;
  for (const Bin& bin : pcfg_task().plan(lengths, count, Split::train)) {
    const Rng rng = Rng(7).stream(fmt::format("pcfg {}", bin.length));
    for (int64_t index = 0; index < bin.count; ++index) {
      pcfg_task().generate({.bin = bin, .index = index, .rng = rng}, {.wording = wording, .scratchpad = {}}, example);
      use(example);
    }
  }
}

const std::set<std::string> kUnary{"copy", "reverse", "shift", "echo", "swap_first_last", "repeat"};
const std::set<std::string> kBinary{"append", "prepend", "remove_first", "remove_second"};

bool is_symbol(const std::string& word) {
  return word.size() >= 2 && word[0] >= 'A' && word[0] <= 'Z' && word[1] >= '1' && word[1] <= '9';
}

/// A third computation: recursive, on words, with a new list for every value.
class NaiveEvaluator {
 public:
  /// The value of a source, or nothing when it is not well formed.
  static std::optional<std::string> value(std::string_view source) {
    NaiveEvaluator evaluator;
    for (const std::string_view word : split_words(source)) evaluator.words_.emplace_back(word);
    if (!kUnary.contains(evaluator.peek()) && !kBinary.contains(evaluator.peek())) return std::nullopt;
    const auto result = evaluator.argument();
    if (!result || evaluator.at_ != evaluator.words_.size()) return std::nullopt;
    return join(*result, " ");
  }

 private:
  std::string peek() const { return at_ < words_.size() ? words_[at_] : ""; }

  std::optional<Words> argument() {
    const std::string name = peek();
    if (kUnary.contains(name)) {
      ++at_;
      const auto x = argument();
      if (!x) return std::nullopt;
      return unary(name, *x);
    }
    if (kBinary.contains(name)) {
      ++at_;
      const auto x = argument();
      if (!x || peek() != ",") return std::nullopt;
      ++at_;
      const auto y = argument();
      if (!y) return std::nullopt;
      if (name == "remove_first") return y;
      if (name == "remove_second") return x;
      return name == "append" ? both(*x, *y) : both(*y, *x);
    }
    Words literal;
    while (is_symbol(peek())) literal.push_back(words_[at_++]);
    if (literal.empty()) return std::nullopt;
    return literal;
  }

  static Words both(Words x, const Words& y) {
    for (const std::string& word : y) x.push_back(word);
    return x;
  }

  static Words unary(const std::string& name, const Words& x) {
    if (name == "reverse") return {x.rbegin(), x.rend()};
    if (name == "shift") return both({x.begin() + 1, x.end()}, {x.front()});
    if (name == "echo") return both(x, {x.back()});
    if (name == "repeat") return both(x, x);
    if (name == "copy" || x.size() == 1) return x;
    return both(both({x.back()}, {x.begin() + 1, x.end() - 1}), {x.front()});
  }

  Words words_;
  size_t at_ = 0;
};

void expect_agreement(int64_t count) {
  for (const Wording wording : {Wording::printed, Wording::released}) {
    for_each_example({1, 35}, count / 2, wording, [&](const Example& example) {
      std::string_view source = example.prompt;
      if (wording == Wording::released) {
        ASSERT_TRUE(source.starts_with("Solve: ") && source.ends_with("[SEP]")) << source;
        source = source.substr(7, source.size() - 12);
      }
      ASSERT_EQ(example.target, solve(example.prompt)) << example.prompt;
      ASSERT_EQ(example.target, NaiveEvaluator::value(source)) << example.prompt;
      ASSERT_EQ(collapse_spaces(example.prompt), example.prompt);
    });
  }
}

TEST(Pcfg, GeneratorSolverAndNaiveEvaluatorAgree) {
  expect_agreement(20'000);
}

TEST(PcfgLong, GeneratorSolverAndNaiveEvaluatorAgree) {
  expect_agreement(100'000);
}

TEST(Pcfg, SolvesTheExamplesOfThePaper) {
  EXPECT_EQ(solve("shift prepend K10 R1 K12 , E12 F16"), "F16 K10 R1 K12 E12");
  EXPECT_EQ(solve("Solve: shift prepend K10 R1 K12 , E12 F16[SEP]"), "F16 K10 R1 K12 E12");
  EXPECT_EQ(solve("swap_first_last echo B10 V8 A7"), "A7 V8 A7 B10");
}

TEST(Pcfg, KnowsEveryFunction) {
  const std::map<std::string, std::string> expected{
      {"copy A1 B2 C3", "A1 B2 C3"},
      {"reverse A1 B2 C3", "C3 B2 A1"},
      {"shift A1 B2 C3", "B2 C3 A1"},
      {"echo A1 B2 C3", "A1 B2 C3 C3"},
      {"swap_first_last A1 B2 C3", "C3 B2 A1"},
      {"swap_first_last A1 B2 C3 D4", "D4 B2 C3 A1"},
      {"repeat A1 B2 C3", "A1 B2 C3 A1 B2 C3"},
      {"append A1 B2 , C3 D4", "A1 B2 C3 D4"},
      {"prepend A1 B2 , C3 D4", "C3 D4 A1 B2"},
      {"remove_first A1 B2 , C3 D4", "C3 D4"},
      {"remove_second A1 B2 , C3 D4", "A1 B2"},
      {"append remove_first A1 , B2 , echo prepend C3 , D4 D5", "B2 D4 D5 C3 C3"},
      {"append append A1 , B2 , append C3 , D4", "A1 B2 C3 D4"},
      {"swap_first_last A20", "A20"},
      {"shift Z20", "Z20"}};
  for (const auto& [source, target] : expected) {
    EXPECT_EQ(solve(source), target) << source;
    EXPECT_EQ(NaiveEvaluator::value(source), target) << source;
  }
}

TEST(Pcfg, PlansTheTestSetOfTheCorpus) {
  const std::vector<int64_t> expected{3232, 2296, 1738, 1175, 811, 631, 411, 271, 225, 154, 103, 68, 67, 46,
                                      34,   18,   28,   5,    6,   5,   2,   4,   0,   2,   0,   0,  1};
  const auto bins = pcfg_task().plan(pcfg_task().info().test, pcfg_task().info().test_count, Split::test);
  ASSERT_EQ(bins.size(), expected.size());
  for (size_t i = 0; i < bins.size(); ++i) EXPECT_EQ(bins[i].count, expected[i]) << bins[i].length;
}

TEST(Pcfg, PlansLengthsThatTheCorpusLacks) {
  for (const Bin& bin : pcfg_task().plan({36, 45}, 100, Split::test)) EXPECT_EQ(bin.count, 10) << bin.length;
  EXPECT_EQ(pcfg_task().plan({1000, 1000}, 5, Split::test).at(0).count, 5);
  EXPECT_THROW(pcfg_task().plan({1, 1001}, 5, Split::test), UserError);
  EXPECT_THROW(pcfg_task().plan({1'000'000, 1'000'000}, 5, Split::test), UserError);
}

TEST(Pcfg, MakesSourcesOfManyFunctions) {
  for (const int64_t length : {64, 200, 1000}) {
    for_each_example({length, length}, 20, Wording::released, [&](const Example& example) {
      EXPECT_EQ(example.length, length);
      EXPECT_EQ(example.target, solve(example.prompt));
      EXPECT_LE(split_words(example.target).size(), 736u);
    });
  }
}

TEST(Pcfg, AnExampleDependsOnItsIndexAlone) {
  const Bin bin{.length = 8, .count = 100};
  Example first, other, again;
  pcfg_task().generate({.bin = bin, .index = 3, .rng = Rng(1)}, {}, first);
  pcfg_task().generate({.bin = bin, .index = 4, .rng = Rng(1)}, {}, other);
  pcfg_task().generate({.bin = bin, .index = 3, .split = Split::test, .rng = Rng(1)}, {}, again);
  EXPECT_EQ(first.prompt, again.prompt);
  EXPECT_EQ(first.target, again.target);
  EXPECT_NE(first.prompt, other.prompt);
}

TEST(Pcfg, SpacingDoesNotMatter) {
  EXPECT_EQ(solve("append A1 B2,C3"), "A1 B2 C3");
  EXPECT_EQ(solve("  Solve : append A1 B2 ,\tC3 [SEP]\n"), "A1 B2 C3");
}

TEST(Pcfg, SaysWhatCannotBeParsed) {
  EXPECT_EQ(error_of("revrese A1 B2"),
            "cannot parse \"revrese A1 B2\": 'revrese' is neither a function nor a symbol from A1 to Z20; did you mean "
            "'reverse'?");
  EXPECT_EQ(error_of("append A1 B2"),
            "cannot parse \"append A1 B2\": expected a symbol or ',' at word 4, found the end");
  EXPECT_EQ(error_of("copy A1 , B2"),
            "cannot parse \"copy A1 , B2\": expected a symbol or the end at word 3, found ','");
  EXPECT_EQ(error_of("copy A1 copy B2"),
            "cannot parse \"copy A1 copy B2\": expected a symbol or the end at word 3, found 'copy'");
  EXPECT_EQ(error_of("append , A1"),
            "cannot parse \"append , A1\": expected a function or a symbol at word 2, found ','");
  EXPECT_EQ(error_of("A1 B2"), "cannot parse \"A1 B2\": expected a function at word 1, found 'A1'");
  for (const char* prompt : {"",
                             " ",
                             ",",
                             "copy",
                             "append A1 ,",
                             "append A1 , B2 , C3",
                             "copy A0",
                             "copy A21",
                             "copy A01",
                             "copy a1",
                             "copy A111",
                             "copy AA1",
                             "copy A",
                             "copy 1",
                             "Solve: copy A1",
                             "copy A1[SEP]",
                             "Solve: [SEP]",
                             "Solve: copy A1[SEP] B2",
                             "Solve copy A1[SEP]",
                             "copy A1 \xff",
                             "copy Solve: A1"}) {
    EXPECT_TRUE(error_of(prompt).starts_with("cannot parse")) << prompt << ": " << error_of(prompt);
  }
}

TEST(Pcfg, RefusesWhatIsTooLarge) {
  const auto too_large = [](const std::string& prompt) {
    const std::string error = error_of(prompt);
    return error.find("it is too large: ") != std::string::npos && error.size() < 200;
  };
  EXPECT_TRUE(too_large(times(1'000'000, "copy ") + "A1"));
  EXPECT_TRUE(too_large(times(1'000'000, "append ")));
  EXPECT_TRUE(too_large(times(40, "repeat ") + "A1 B2"));
  EXPECT_TRUE(too_large(times(9'999, "repeat ") + "A1 B2"));
  EXPECT_TRUE(too_large("remove_first " + times(60, "repeat ") + "A1 B2 , C3"));
  EXPECT_TRUE(too_large("copy" + times(100'001, " A1")));
  // Many results at once: no single one of them is large.
  EXPECT_TRUE(too_large(times(99, "remove_second ") + times(99, times(12, "repeat ") + "A1 B2 , ") + "C3"));
  EXPECT_EQ(solve(times(10'000, "reverse ") + "A1 B2"), "A1 B2");
  EXPECT_EQ(split_words(solve(times(16, "repeat ") + "A1")).size(), 65'536u);
}

/// Random words: the solver takes exactly what the naive evaluator takes.
TEST(Pcfg, AcceptsExactlyTheLanguage) {
  const std::vector<std::string> some{"copy", "echo", "append", "remove_second", ",", ",", "A1", "B2", "C3", "Q20"};
  int well_formed = 0;
  for (uint64_t i = 0; i < 50'000; ++i) {
    Rng rng = Rng(11).at(i);
    Words words;
    for (int64_t left = rng.between(1, 9); left > 0; --left) words.push_back(some[rng.below(some.size())]);
    const std::string source = join(words, " ");
    const auto expected = NaiveEvaluator::value(source);
    if (expected) {
      ++well_formed;
      ASSERT_EQ(solve(source), *expected) << source;
    } else {
      ASSERT_TRUE(error_of(source).starts_with("cannot parse")) << source;
    }
  }
  EXPECT_GT(well_formed, 1000);
}

TEST(Pcfg, HasNoScratchpad) {
  EXPECT_THROW(pcfg_task().solve("copy A1 B2", {.output = true}), UserError);
  Example example;
  EXPECT_THROW(pcfg_task().generate({.bin = {.length = 1, .count = 1}}, {.scratchpad = {.input = true}}, example),
               UserError);
}

TEST(Pcfg, LexiconHasEveryPiece) {
  std::set<std::pair<std::string, bool>> known;
  const auto texts = pcfg_task().lexicon();
  for (const std::string& text : texts) {
    for (const Piece& piece : split_pieces(text)) known.emplace(piece.text, piece.glued);
  }
  for_each_example({1, 12}, 5000, Wording::released, [&](const Example& example) {
    for (const std::string& text : {example.prompt, example.target}) {
      for (const Piece& piece : split_pieces(text)) {
        ASSERT_TRUE(known.contains({std::string(piece.text), piece.glued})) << piece.text << " in " << text;
      }
    }
  });
}

}  // namespace
}  // namespace lengthwise
