// The problems as the paper prints them and as the published data have them, word for word.
#include <gtest/gtest.h>

#include "tasks/registry.h"

namespace lengthwise {
namespace {

struct Row {
  const char* task;
  const char* prompt;
  const char* target;
};

void check(const std::vector<Row>& rows) {
  for (const Row& row : rows) EXPECT_EQ(find_task(row.task).solve(row.prompt, {}), row.target) << row.prompt;
}

TEST(PrintedExamples, AreSolved) {
  check({
      {"copy", "Copy the following words: w1 w2 w3 w4 w5", "w1 w2 w3 w4 w5"},
      {"reverse", "Reverse the following words: w1 w2 w3 w4 w5", "w5 w4 w3 w2 w1"},
      {"addition", "Compute: 5 3 7 2 6 + 1 9 1 7 ?", "The answer is 5 5 6 4 3."},
      {"polynomial", "Evaluate x = 3 in (3 x ** 0 + 1 x ** 1 + 1 x ** 2) % 10 ?", "The answer is 5."},
      {"sort", "Sort the following numbers: 3 1 4 1 5 ?", "The answer is 1 1 3 4 5."},
      {"summation", "Compute: (1 + 2 + 3 + 4 + 7) % 10 ?", "The answer is 7."},
      {"parity", "Is the number of 1's even in [1 0 0 1 1] ?", "The answer is No."},
      {"lego", "If a = -1; b = -a; c = +b; d = +c. Then what is c?", "The answer is +1."},
      {"scan", "jump twice and run left", "JUMP JUMP TURN_LEFT RUN"},
      {"pcfg", "shift prepend K10 R1 K12 , E12 F16", "F16 K10 R1 K12 E12"},
  });
}

TEST(PrintedExamples, OfTheVariants) {
  check({
      {"copy-rsc", "Copy the following words: w9 w9 w9", "w9 w9 w9"},
      {"copy-rsc2x", "Copy the following words: w9 w9 w9", "w9 w9 w9 w9 w9 w9"},
      {"copy-rdc", "Replace w3 with w7 in the following words: w3 w3 w3", "w7 w7 w7"},
      {"copy-cmc2x", "Copy the following words: w1 w2", "w1 w2 [NEXT] w1 w2"},
      {"reverse-mc2x", "Reverse the following words: w1 w2", "w2 w1 [NEXT] w2 w1"},
      {"reverse-mcrv", "Reverse the following words: w1 w2", "w2 w1 [NEXT] w1 w2"},
      {"sort-multi", "Sort the following numbers: 3 5 2, 8 8, 7 4 1 0 ?", "The answer is 8 8, 3 5 2, 7 4 1 0."},
      {"polynomial", "Evaluate x = - 2 in (- 3 x ** 1 + 0 x ** 0) % 10 ?", "The answer is 6."},
  });
}

TEST(ReleasedExamples, AreSolved) {
  check({
      {"copy", "Copy: w1 w2 w3 [SEP]", "w1 w2 w3"},
      {"copy-rsc", "Copy: w6052 w6052 [SEP]", "w6052 w6052"},
      {"copy-rsc2x", "Copy: w6052 w6052 [SEP]", "w6052 w6052 w6052 w6052"},
      {"copy-rdc", "Replace w3 with w7 in w3 w3 w3 [SEP]", "w7 w7 w7"},
      {"copy-cmc2x", "Copy: w1 w2 [SEP]", "w1 w2 [NEXT] w1 w2"},
      {"reverse", "Reverse: w1 w2 w3 [SEP]", "w3 w2 w1"},
      {"reverse-mc2x", "Reverse: w1 w2 w3 [SEP]", "w3 w2 w1 [NEXT] w3 w2 w1"},
      {"reverse-mcrv", "Reverse: w1 w2 w3 [SEP]", "w3 w2 w1 [NEXT] w1 w2 w3"},
      {"addition", "Compute 5 3 7 2 6 + 1 9 1 7 ? ", "The answer is 5 5 6 4 3."},
      {"polynomial", "Evaluate at x = - 2 in 2 * x ** 3 + - 3 * x ** 1 ? ", "The answer is 0."},
      {"sort", "Sort the following list [ M, B, F ]. ", "The sorted list is [ B, F, M ]."},
      {"sort-multi", "Sort the following list [ 3 5 2, 8 8, 7 4 1 0 ]. ",
       "The sorted list is [ 8 8, 3 5 2, 7 4 1 0 ]."},
      {"summation", "Compute: 7 + 8 + 3 .[SEP] ", "The answer is 8 ."},
      {"parity", "Is the number of 1's even in the sequence [ 1, 0, 1 ] ? ", "The answer is Yes."},
      {"lego", "If q = -1, t = - q, c = + t, f = - c. Then, what is the value of c? ", "The answer is +1."},
      {"scan", "Solve: jump opposite left twice and look[SEP]", "Left Left Jump Left Left Jump Look"},
      {"pcfg", "Solve: swap_first_last echo B10 V8 A7[SEP]", "A7 V8 A7 B10"},
  });
}

TEST(Solvers, ReadNumbersSpacedOrNot) {
  check({
      {"addition", "Compute:53726+1917?", "The answer is 5 5 6 4 3."},
      {"addition", "Compute: 0 0 7 + 0 0 ?", "The answer is 7."},
      {"addition", "Compute: 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 + 1 ?",
       "The answer is 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0."},
      {"polynomial", "Evaluate x=-2 in(2x**3-3x**1)%10?", "The answer is 0."},
      {"sort-multi", "Sort the following numbers: 352,88,7410?", "The answer is 8 8, 3 5 2, 7 4 1 0."},
      {"sort", "Sort the following numbers: 120 7 120?", "The answer is 7 120 120."},
      {"lego", "If a=-1;b=-a. Then what is b?", "The answer is +1."},
  });
}

TEST(Solvers, TakeTheSymbolsOfTheStudy) {
  // Its tokenizer's symbols: digits, letters, punctuation and any word, whatever the text around them reads like.
  const std::string all = "0 9 a z A Z ! $ % & ( ) * + , - . / : ; < = > the ... don't";
  const std::string prompt = "Copy: " + all + " [SEP]";
  check({
      {"copy", prompt.c_str(), all.c_str()},
      {"copy", "Copy: 3 x %", "3 x %"},
      {"copy", "Copy the following words: 3 x % .", "3 x %"},
      {"copy", "Copy the following words: 3 x.", "3 x"},
      {"copy", "Copy: . . [SEP]", ". ."},
      {"copy", "Copy: .", "."},
      {"copy-cmc2x", "Copy: : ; [SEP]", ": ; [NEXT] : ;"},
      {"copy-rsc", "Copy: , , , [SEP]", ", , ,"},
      {"copy-rsc2x", "Copy: $ $[SEP]", "$ $ $ $"},
      {"copy-rdc", "Replace 6 with > in 6 6 6 [SEP]", "> > >"},
      {"copy-rdc", "Replace with with in in with with [SEP]", "in in"},
      {"reverse", "Reverse: ( a ) [SEP]", ") a ("},
      {"reverse-mcrv", "Reverse: < = [SEP]", "= < [NEXT] < ="},
      {"sort", "Sort the following list [ b, A, 0, a, Z, X, z, 9 ].", "The sorted list is [ 0, 9, a, b, z, A, X, Z ]."},
      {"sort", "Sort the following list [ red, y, Y ].", "The sorted list is [ y, Y, red ]."},
  });
}

TEST(Solvers, GoBeyondWhatIsGenerated) {
  check({
      // 7 ** 1000000007 ends in 3: the last digits 7, 9, 3, 1 repeat, and 1000000007 leaves 3 when divided by 4.
      {"polynomial", "Evaluate x = 7 in (1 x ** 1000000007) % 10 ?", "The answer is 3."},
      {"polynomial", "Evaluate x = - 7 in (1 x ** 1000000007) % 10 ?", "The answer is 7."},
      {"polynomial", "Evaluate x = 0 in (4 x ** 0 + 9 x ** 5) % 10 ?", "The answer is 4."},
      {"polynomial", "Evaluate x = - 123456789 in (999999999999999999 x ** 1) % 10 ?", "The answer is 9."},
      {"copy", "Copy: any words at all [SEP]", "any words at all"},
      {"sort", "Sort the following list [ 1, O, A, red, Z, 9 ].", "The sorted list is [ 1, 9, A, O, Z, red ]."},
      {"lego", "If d = +c; c = +b; a = -1; b = -a. Then what is d?", "The answer is +1."},
      {"lego", "If z = - Q, Q = -1. Then, what is the value of z?", "The answer is +1."},
      {"lego", "If a = -1. Then what is a?", "The answer is -1."},
      {"summation", "Compute: (0 + 9) % 10 ?", "The answer is 9."},
  });
}

}  // namespace
}  // namespace lengthwise
