// A prompt that cannot be parsed is the user's mistake and says so; nothing crashes, hangs or eats the memory.
#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/tasks/draws.h"

namespace lengthwise {
namespace {

const Scratchpad kFull{true, true, true, true, true};

/// The message of the UserError, or "" and the target in `solved`.
std::string error_of(const Task& task, std::string_view prompt, const Scratchpad& scratchpad = {}) {
  try {
    task.solve(prompt, scratchpad);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

std::string error_of(std::string_view task, std::string_view prompt, const Scratchpad& scratchpad = {}) {
  return error_of(find_task(task), prompt, scratchpad);
}

std::string repeated(std::string_view text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

TEST(SolverErrors, GarbageIsAUserError) {
  const std::string bytes = [] {
    std::string text;
    for (int i = 0; i < 256; ++i) text += static_cast<char>(i);
    return text;
  }();
  for (const auto& task : tasks()) {
    for (const std::string& prompt :
         {std::string(), std::string("   \t\n"), std::string("hello"), std::string("? ? ?"), bytes,
          repeated("\xff", 300), std::string("\0\0", 2), std::string("[SEP]"), std::string("Copy"),
          std::string("Compute:"), std::string("Sort the following"), std::string("If"), std::string("Evaluate x ="),
          repeated("( ", 100'000), repeated("9", 200'000)}) {
      EXPECT_NE(error_of(*task, prompt), "") << task->info().name << ": " << prompt.substr(0, 40);
    }
  }
}

TEST(SolverErrors, DamagedPromptsNeverCrash) {
  Rng rng(3);
  for (const auto& task : tasks()) {
    const Scratchpad format = task->info().scratchpad ? kFull : Scratchpad{};
    for (const Wording wording : {Wording::printed, Wording::released}) {
      Sampler sampler(*task, Split::train);
      Example example;
      for (int i = 0; i < 100; ++i) {
        task->generate(sampler.next(), {.wording = wording}, example);
        for (int damage = 0; damage < 4; ++damage) {
          std::string prompt = example.prompt;
          const size_t at = rng.below(prompt.size());
          if (damage == 0) prompt.resize(at);
          if (damage == 1) prompt.erase(at, 1);
          if (damage == 2) prompt[at] = static_cast<char>(rng.below(256));
          if (damage == 3) prompt.insert(at, prompt.substr(rng.below(prompt.size())));
          const std::string error = error_of(*task, prompt, format);
          EXPECT_LT(error.size(), 400u);
        }
      }
    }
  }
}

TEST(SolverErrors, HugePromptsAreSolvedInProportion) {
  const int n = 100'000;
  EXPECT_EQ(find_task("copy").solve("Copy:" + repeated(" w1", n), {}).size(), 3u * n - 1);
  EXPECT_EQ(find_task("reverse").solve("Reverse:" + repeated(" w1", n), {}).size(), 3u * n - 1);
  EXPECT_EQ(find_task("addition").solve("Compute: " + repeated("9", n) + " + 1 ?", {}).size(), 15u + 2u * n + 1);
  EXPECT_EQ(find_task("polynomial").solve("Evaluate x = 3 in (1 x ** 0" + repeated(" + 1 x ** 1", n) + ") % 10 ?", {}),
            "The answer is 1.");
  EXPECT_EQ(find_task("sort").solve("Sort the following numbers:" + repeated(" 2 1", n) + " ?", {}).size(),
            14u + 4u * n);
  EXPECT_EQ(find_task("summation").solve("Compute: (1" + repeated(" + 1", n) + ") % 10 ?", {}), "The answer is 1.");
  EXPECT_EQ(find_task("parity").solve("Is the number of 1's even in [1" + repeated(" 1", n) + "] ?", {}),
            "The answer is No.");
  EXPECT_NE(error_of("lego", "If a = -1" + repeated("; a = -a", n) + ". Then what is a?"), "");
}

TEST(SolverErrors, AnEndlessScratchpadIsRefused) {
  EXPECT_EQ(error_of("parity", "Is the number of 1's even in [1" + repeated(" 1", 1000) + "] ?", kFull),
            "parity: a scratchpad is written for lengths up to 1000; this problem has 1001 (bits)");
  EXPECT_EQ(error_of("parity", "Is the number of 1's even in [1" + repeated(" 1", 999) + "] ?", kFull), "");
  for (const auto& [task, prompt] : std::vector<std::pair<std::string, std::string>>{
           {"addition", "Compute: " + repeated("9", 2000) + " + 1 ?"},
           {"polynomial", "Evaluate x = 3 in (1 x ** 0" + repeated(" + 1 x ** 1", 2000) + ") % 10 ?"},
           {"sort", "Sort the following numbers:" + repeated(" 2 1", 2000) + " ?"},
           {"summation", "Compute: (1" + repeated(" + 1", 2000) + ") % 10 ?"}}) {
    EXPECT_NE(error_of(task, prompt, kFull).find("up to 1000"), std::string::npos) << task;
  }
}

TEST(SolverErrors, SayWhatWasExpectedAndWhatWasFound) {
  EXPECT_EQ(error_of("copy", "Paste: w1"), "cannot parse \"Paste: w1\": expected 'Copy' at word 1, found 'Paste'");
  EXPECT_EQ(error_of("copy", "Copy: [SEP]"), "cannot parse \"Copy: [SEP]\": expected a word at word 3, found '[SEP]'");
  EXPECT_EQ(error_of("reverse", "Reverse: w1 [SEP] w2"),
            "cannot parse \"Reverse: w1 [SEP] w2\": expected the end at word 5, found 'w2'");
  EXPECT_EQ(error_of("copy-rsc", "Copy: w1 w1 w2 [SEP]"),
            "cannot parse \"Copy: w1 w1 w2 [SEP]\": copy-rsc repeats one word, and 'w2' is not 'w1'");
  EXPECT_EQ(error_of("copy-rdc", "Replace w1 with w2 in w1 w2 [SEP]"),
            "cannot parse \"Replace w1 with w2 in w1 w2 [SEP]\": copy-rdc repeats one word, and 'w2' is not 'w1'");
  EXPECT_EQ(error_of("parity", "Is the number of 1's even in [1 2] ?"),
            "cannot parse \"Is the number of 1's even in [1 2] ?\": expected 0 or 1 at word 11, found '2'");
  EXPECT_EQ(error_of("summation", "Compute: (1 + 12) % 10 ?"),
            "cannot parse \"Compute: (1 + 12) % 10 ?\": expected a digit at word 6, found '12'");
  EXPECT_EQ(
      error_of("sort", "Sort the following list [ M, mountain ]."),
      "cannot parse \"Sort the following list [ M, mountain ].\": expected one of the symbols 0-9, a-z, A-Z, red, "
      "green, blue, gold, black, white, house, water, river, tree, stone, light, city, road, book, door, hand at "
      "word 8, found 'mountain'");
  EXPECT_EQ(error_of("sort", "Sort the following words: a ?"),
            "cannot parse \"Sort the following words: a ?\": expected 'numbers:' or 'list [' at word 4, found 'words'");
  EXPECT_EQ(error_of("sort", "Sort the following numbers: ?"),
            "cannot parse \"Sort the following numbers: ?\": expected a whole number at word 6, found '?'");
  EXPECT_EQ(error_of("addition", "Compute: 1 + ?"),
            "cannot parse \"Compute: 1 + ?\": expected a digit at word 5, found '?'");
}

TEST(SolverErrors, HugeNumbers) {
  const std::string digits(19, '9');
  EXPECT_NE(error_of("sort", "Sort the following numbers: " + digits + " ?").find("19 digits"), std::string::npos);
  EXPECT_NE(error_of("sort-multi", "Sort the following numbers: " + digits + ", 1 ?").find("19 digits"),
            std::string::npos);
  EXPECT_NE(error_of("polynomial", "Evaluate x = " + digits + " in (1 x ** 1) % 10 ?").find("19 digits"),
            std::string::npos);
  const std::string large = "Evaluate x = - 999999999999999999 in (999999999999999999 x ** 999999999999999999) % 10 ?";
  EXPECT_EQ(error_of("polynomial", large), "");
  EXPECT_NE(error_of("polynomial", large, kFull).find("too many for a scratchpad"), std::string::npos);
  for (const char* x : {"0", "1", "- 1"}) {
    EXPECT_EQ(error_of("polynomial", fmt::format("Evaluate x = {} in (7 x ** 999999999999999999) % 10 ?", x), kFull),
              "");
  }
}

TEST(SolverErrors, Lego) {
  const auto message = [](const std::string& clauses, const std::string& query) {
    const std::string error = error_of("lego", "If " + clauses + ". Then what is " + query + "?");
    return error.substr(error.find("\": ") + 3);
  };
  EXPECT_EQ(message("a = -1; b = -a", "c"), "'c' is never given a value");
  EXPECT_EQ(message("a = -1; b = -d", "b"), "'d' is never given a value");
  EXPECT_EQ(message("a = -1; a = +1", "a"), "'a' is given a value twice");
  EXPECT_EQ(message("a = -b; b = -a", "a"), "'a' depends on itself and never on a constant");
  EXPECT_EQ(message("a = -a", "a"), "'a' depends on itself and never on a constant");
  EXPECT_EQ(message("ab = -1", "ab"), "expected a variable of one letter at word 2, found 'ab'");
  EXPECT_EQ(message("a = 1", "a"), "expected '+' or '-' at word 4, found '1'");
}

TEST(SolverErrors, AScratchpadThatIsNotThere) {
  for (const auto& task : tasks()) {
    if (task->info().scratchpad) continue;
    Sampler sampler(*task, Split::train);
    Example example;
    task->generate(sampler.next(), {}, example);
    const std::string error = error_of(*task, example.prompt, kFull);
    EXPECT_TRUE(error.starts_with(task->info().name +
                                  " has no scratchpad: leave it at 'none', or take one of addition, polynomial, sort, "
                                  "sort-multi, summation, parity, lego"))
        << error;
    EXPECT_THROW(task->generate(sampler.next(), {.scratchpad = kFull}, example), UserError);
  }
}

TEST(SolverErrors, AnUnknownTaskFindsItsNeighbour) {
  try {
    find_task("summmation");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'summation'?"), std::string::npos);
  }
}

}  // namespace
}  // namespace lengthwise
