// Scratchpads word for word: the worked examples of the study, and what each of its formats leaves out.
#include <gtest/gtest.h>

#include "core/text.h"
#include "tasks/registry.h"
#include "tasks/scratchpad.h"

namespace lengthwise {
namespace {

Scratchpad format(std::string_view name) {
  Scratchpad parsed;
  from_text(name, parsed);
  return parsed;
}

std::string solve(std::string_view task, std::string_view prompt, std::string_view name = "full") {
  return find_task(task).solve(prompt, format(name));
}

TEST(ReleasedScratchpad, Addition) {
  EXPECT_EQ(solve("addition", "Compute 9 5 + 7 ?"),
            collapse_spaces("Thinking step by step:  in 5, 7 comp 5 + 7 + carry = 12 + 0 = 12 out 2 [ carry: 1 ] re 9 "
                            "+ 0  # in 9, 0 comp 9 + 0 + carry = 9 + 1 = 10 out 0 [ carry: 1 ] re  +   # in 0, 0 comp "
                            "0 + 0 + carry = 0 + 1 = 1 out 1 [ carry: 0 ] re  +   . Thus,  The answer is 1 0 2."));
}

TEST(ReleasedScratchpad, Polynomial) {
  EXPECT_EQ(solve("polynomial", "Evaluate at x = - 2 in 2 * x ** 3 + - 3 * x ** 1 ?"),
            collapse_spaces("Thinking step by step:  in 2 * x ** 3 comp 2 * - 2 ** 3 = 2 * - 8 out - 1 6 [ sum: 0 + - "
                            "1 6 = 4 ] re - 3 * x ** 1  # in - 3 * x ** 1 comp - 3 * - 2 ** 1 = - 3 * - 2 out 6 [ "
                            "sum: 4 + 6 = 0 ] re   . Thus,  The answer is 0."));
}

TEST(ReleasedScratchpad, Summation) {
  EXPECT_EQ(solve("summation", "Compute: 7 + 8 + 3 .[SEP]"),
            collapse_spaces("Thinking step by step:  in 7 comp 7 + sum = 7 + 0 = out 7 [ sum: 7 = 7 ] re 8 + 3  # in 8 "
                            "comp 8 + sum = 8 + 7 = out 1 5 [ sum: 1 5 = 5 ] re 3  # in 3 comp 3 + sum = 3 + 5 = out "
                            "8 [ sum: 8 = 8 ] re   . Thus,  The answer is 8 ."));
}

TEST(ReleasedScratchpad, Parity) {
  EXPECT_EQ(solve("parity", "Is the number of 1's even in the sequence [ 1, 0, 1 ] ?"),
            collapse_spaces("Thinking step by step:  in 1 comp 1 ** par = 1 ** 0 out 1 [ par: 1 ] re [ 0, 1 ]  # in 0 "
                            "comp 0 ** par = 0 ** 1 out 1 [ par: 1 ] re [ 1 ]  # in 1 comp 1 ** par = 1 ** 1 out 0 [ "
                            "par: 0 ] re [  ]  . Thus,  The answer is Yes."));
}

TEST(ReleasedScratchpad, Sort) {
  EXPECT_EQ(solve("sort", "Sort the following list [ M, B, F ]."),
            collapse_spaces("Thinking step by step:  in M comp The minimum of the unsorted portion out B re [ M, F ]  "
                            "# in M comp The minimum of the unsorted portion out F re [ M ]  # in M comp The minimum "
                            "of the unsorted portion out M re [  ]  . Thus,  The sorted list is [ B, F, M ]."));
}

TEST(ReleasedScratchpad, SortOfSeveralDigits) {
  EXPECT_EQ(solve("sort-multi", "Sort the following list [ 3 5 2, 8 8 ].", "no-computation"),
            "Thinking step by step: in 3 5 2 out 8 8 re [ 3 5 2 ] # in 3 5 2 out 3 5 2 re [ ] . Thus, The sorted list "
            "is [ 8 8, 3 5 2 ].");
}

TEST(ReleasedScratchpad, Lego) {
  EXPECT_EQ(solve("lego", "If q = -1, t = - q, c = + t, f = - c. Then, what is the value of c?"),
            collapse_spaces("Thinking step by step:  in q comp  out -1 re t = - q, c = + t, f = - c  # in t comp - q = "
                            "- -1 out +1 re c = + t, f = - c  # in c comp + t = + +1 out +1 re f = - c  . Thus,  The "
                            "answer is +1."));
}

TEST(ReleasedScratchpad, FormatsLeaveOutOneComponent) {
  const auto first_step = [](std::string_view name) {
    const std::string target = solve("addition", "Compute 9 5 + 7 ?", name);
    const size_t begin = std::string_view("Thinking step by step: ").size();
    return target.substr(begin, target.find(" #") - begin);
  };
  const std::string sum = "comp 5 + 7 + carry = 12 + 0 = 12";
  EXPECT_EQ(first_step("full"), "in 5, 7 " + sum + " out 2 [ carry: 1 ] re 9 + 0");
  EXPECT_EQ(first_step("no-input"), sum + " out 2 [ carry: 1 ] re 9 + 0");
  EXPECT_EQ(first_step("no-computation"), "in 5, 7 out 2 [ carry: 1 ] re 9 + 0");
  EXPECT_EQ(first_step("no-output"), "in 5, 7 " + sum + " [ carry: 1 ] re 9 + 0");
  EXPECT_EQ(first_step("no-variables"), "in 5, 7 " + sum + " out 2 re 9 + 0");
  EXPECT_EQ(first_step("no-remaining"), "in 5, 7 " + sum + " out 2 [ carry: 1 ]");
  EXPECT_EQ(first_step("minimal"), sum + " out 2");
  EXPECT_EQ(solve("addition", "Compute 9 5 + 7 ?", "none"), "The answer is 1 0 2.");
}

TEST(PrintedScratchpad, Addition) {
  EXPECT_EQ(solve("addition", "Compute: 9 5 + 7 ?"), solve("addition", "Compute 9 5 + 7 ?"));
}

TEST(PrintedScratchpad, Polynomial) {
  EXPECT_EQ(solve("polynomial", "Evaluate x = - 2 in (2 x ** 3 + - 3 x ** 1) % 10 ?"),
            "Thinking step by step: in 2 x ** 3 comp 2 * - 2 ** 3 = 2 * - 8 out - 1 6 [ sum: 0 + - 1 6 = 4 ] re - 3 x "
            "** 1 # in - 3 x ** 1 comp - 3 * - 2 ** 1 = - 3 * - 2 out 6 [ sum: 4 + 6 = 0 ] re . Thus, The answer is "
            "0.");
}

TEST(PrintedScratchpad, Summation) {
  EXPECT_EQ(solve("summation", "Compute: (7 + 8) % 10 ?"),
            "Thinking step by step: in 7 comp 7 + sum = 7 + 0 = out 7 [ sum: 7 = 7 ] re 8 # in 8 comp 8 + sum = 8 + 7 "
            "= out 1 5 [ sum: 1 5 = 5 ] re . Thus, The answer is 5.");
}

TEST(PrintedScratchpad, Parity) {
  EXPECT_EQ(solve("parity", "Is the number of 1's even in [1 0 1] ?", "no-variables"),
            "Thinking step by step: in 1 comp 1 ** par = 1 ** 0 out 1 re [0 1] # in 0 comp 0 ** par = 0 ** 1 out 1 re "
            "[1] # in 1 comp 1 ** par = 1 ** 1 out 0 re [] . Thus, The answer is Yes.");
}

TEST(PrintedScratchpad, SortTakesTheFirstOfEqualMinima) {
  EXPECT_EQ(solve("sort", "Sort the following numbers: 3 1 4 1 ?", "no-computation"),
            "Thinking step by step: in 3 out 1 re 3 4 1 # in 3 out 1 re 4 3 # in 4 out 3 re 4 # in 4 out 4 re . Thus, "
            "The answer is 1 1 3 4.");
  EXPECT_EQ(solve("sort-multi", "Sort the following numbers: 3 5 2, 1 0, 8 8 ?", "output,remaining"),
            "Thinking step by step: out 1 0 re 3 5 2, 8 8 # out 8 8 re 3 5 2 # out 3 5 2 re . Thus, The answer is 1 0, "
            "8 8, 3 5 2.");
}

TEST(PrintedScratchpad, Lego) {
  EXPECT_EQ(solve("lego", "If a = -1; b = -a; c = +b; d = +c. Then what is c?"),
            "Thinking step by step: in a comp out -1 re b = -a; c = +b; d = +c # in b comp -a = - -1 out +1 re c = +b; "
            "d = +c # in c comp +b = + +1 out +1 re d = +c . Thus, The answer is +1.");
}

TEST(PrintedScratchpad, LegoFollowsTheChainWhereverItsClausesStand) {
  EXPECT_EQ(solve("lego", "If d = +c; c = +b; a = -1; b = -a. Then what is b?", "no-computation"),
            "Thinking step by step: in a out -1 re d = +c; c = +b; b = -a # in b out +1 re d = +c; c = +b . Thus, The "
            "answer is +1.");
}

TEST(Scratchpad, VariablesAreIgnoredWhereThereAreNone) {
  const std::string sort = "Sort the following numbers: 3 1 ?";
  EXPECT_EQ(solve("sort", sort, "full"), solve("sort", sort, "no-variables"));
  EXPECT_EQ(solve("sort", sort, "variables"), "The answer is 1 3.");
  const std::string lego = "If a = -1; b = -a. Then what is b?";
  EXPECT_EQ(solve("lego", lego, "full"), solve("lego", lego, "no-variables"));
}

}  // namespace
}  // namespace lengthwise
