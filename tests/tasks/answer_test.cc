// What counts as the answer in what a model wrote, however odd that is.
#include "tasks/answer.h"

#include <gtest/gtest.h>

#include <chrono>

#include "tasks/registry.h"

namespace lengthwise {
namespace {

using Answer = std::optional<std::string>;
constexpr std::nullopt_t kNone = std::nullopt;

struct Row {
  std::string text;
  Answer answer;
};

void check(AnswerKind kind, const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    const Answer answer = extract_answer(kind, row.text);
    EXPECT_EQ(answer, row.answer) << "'" << row.text << "' gives " << answer.value_or("nothing");
  }
}

TEST(Answer, OfTheWholeTextIsTheText) {
  check(AnswerKind::whole, {{"", ""}, {"a b", "a b"}, {"The answer is 5.", "The answer is 5."}});
}

TEST(Answer, IsANumberOfAnySize) {
  check(AnswerKind::number, {{"The answer is 5.", "5"},
                             {"The answer is 5 .", "5"},
                             {"The answer is 1 0 2.", "102"},
                             {"The answer is   1  0 2  .", "102"},
                             {"The answer is 0 0 7.", "7"},
                             {"The answer is 0 0.", "0"},
                             {"The answer is -5.", "-5"},
                             {"The answer is - 1 6.", "-16"},
                             {"The answer is -0 0.", "0"},
                             {"The answer is - 0 1.", "-1"},
                             {"The answer is " + std::string(500, '9') + ".", std::string(500, '9')}});
}

TEST(Answer, IsTheLastNumberThatIsGiven) {
  check(AnswerKind::number, {{"The answer is 5. The answer is 6.", "6"},
                             {"The answer is 5. The answer is", kNone},
                             {"The answer is The answer is 6.", "6"},
                             {"in 5 out 7 The answer is 6.", "6"}});
}

TEST(Answer, EndsANumberWhereSomethingElseBegins) {
  check(AnswerKind::number, {{"The answer is 5. and so on", "5"},
                             {"The answer is 5. 7", "5"},
                             {"The answer is 5. 7 + 3.", "5"},
                             {"The answer is 5.[SEP] 9.", "5"},
                             {"The answer is 5 + 2.", kNone},
                             {"The answer is 5 , 2.", kNone}});
}

TEST(Answer, IsMissingWhereNoNumberIsGiven) {
  check(AnswerKind::number, {{"", kNone},
                             {"5.", kNone},
                             {"The answer is", kNone},
                             {"The answer is ", kNone},
                             {"The answer is .", kNone},
                             {"The answer is ..", kNone},
                             {"The answer is .5.", kNone},
                             {"The answer is -", kNone},
                             {"The answer is - ", kNone},
                             {"The answer is -.", kNone},
                             {"The answer is 5", kNone},
                             {"The answer is5.", kNone},
                             {"The answer is +5.", kNone},
                             {"The answer is -  5.", kNone},
                             {"The answer is - - 5.", kNone},
                             {"The answer is 5..", kNone},
                             {"The answer is 5.3.", kNone},
                             {"The answer is 5. 3.", kNone},
                             {"The answer is Yes.", kNone},
                             {"the answer is 5.", kNone}});
}

TEST(Answer, IsAStatementInEitherCase) {
  check(AnswerKind::statement, {{"The answer is Yes.", "yes"},
                                {"The answer is yES .", "yes"},
                                {"The answer isNo.", "no"},
                                {"The answer is +1.", "+1"},
                                {"The answer is - 1.", "- 1"},
                                {"The answer is No. The answer is Yes.", "yes"},
                                {"The answer is Yes. No", "yes"},
                                {"The answer is Yes. No.", "yes. no"},
                                {"The answer is Yes", kNone},
                                {"No. The answer is Yes", kNone},
                                {"The answer is .", kNone},
                                {"The answer is", kNone},
                                {"Yes.", kNone},
                                {"", kNone}});
}

TEST(Answer, IsAListInItsOrder) {
  check(AnswerKind::list, {{"The sorted list is [ B, F, M ].", "[B,F,M]"},
                           {"The sorted list is[B,F,M]", "[B,F,M]"},
                           {"The sorted list is [ B, F ] and so on.", "[B,F]"},
                           {"The sorted list is [ B ]. The sorted list is [ F ].", "[F]"},
                           {"The sorted list is [ B ]. [ F ].", "[B ]. [ F]"},
                           {"The sorted list is [ B, [ F ], M ].", "[B,[ F ],M]"},
                           {"The sorted list is [ B F, M ].", "[B F,M]"},
                           {"The sorted list is [ B,, M ].", "[B,,M]"},
                           {"The sorted list is [ ].", "[]"},
                           {"The sorted list is [ B, F", kNone},
                           {"] The sorted list is [ B, F", kNone},
                           {"The sorted list is B, F ].", kNone},
                           {"The sorted list is ] [", kNone},
                           {"The sorted list is", kNone},
                           {"[ B, F ].", kNone},
                           {"", kNone}});
}

TEST(Answer, IsAListOfIntegers) {
  check(AnswerKind::number_list, {{"The sorted list is [ 1 0, 2 5 ].", "[10,25]"},
                                  {"The sorted list is [ 10, 0 2 5 ].", "[10,25]"},
                                  {"The sorted list is [ - 3, 0 ].", "[-3,0]"},
                                  {"The sorted list is [ 1 0 2 5 ].", "[1025]"},
                                  {"The sorted list is [ 1 0, ].", kNone},
                                  {"The sorted list is [ 1 0, , 2 5 ].", kNone},
                                  {"The sorted list is [ 1 0, a ].", kNone},
                                  {"The sorted list is [ 1 0, 2 - 5 ].", kNone},
                                  {"The sorted list is [ 1 0, [ 2 5 ] ].", kNone},
                                  {"The sorted list is [ ].", kNone}});
}

TEST(Answer, IsAListInThePrintedWordingToo) {
  check(AnswerKind::list, {{"The answer is 3 5 9.", "3 5 9"},
                           {"The answer is  3  5 9 .", "3 5 9"},
                           {"The answer is 3 5. The answer is 4 6.", "4 6"},
                           {"The answer is 3 5", kNone},
                           {"The answer is .", kNone}});
  check(AnswerKind::number_list, {{"The answer is 1 0, 2 5.", "10,25"},
                                  {"The answer is 0 1 0, 2 5 .", "10,25"},
                                  {"The answer is 1 0, 2 5", kNone},
                                  {"The answer is 1 0 2 5.", "1025"},
                                  {"The answer is 1 0,.", kNone}});
}

TEST(Answer, OfOneWordingIsNoneInTheOther) {
  for (const AnswerKind kind : {AnswerKind::list, AnswerKind::number_list}) {
    EXPECT_NE(extract_answer(kind, "The answer is 3, 5."), extract_answer(kind, "The sorted list is [ 3, 5 ]."));
    EXPECT_NE(extract_answer(kind, "The answer is 3."), extract_answer(kind, "The sorted list is [ 3 ]."));
  }
}

TEST(Answer, TakesTimeInProportionToTheText) {
  const auto repeated = [](std::string_view part, size_t bytes) {
    std::string text;
    while (text.size() < bytes) text += part;
    return text;
  };
  constexpr size_t kBytes = 1'000'000;
  const auto start = std::chrono::steady_clock::now();
  for (const std::string_view sentence : {"The answer is ", "The sorted list is [ ", ""}) {
    for (const std::string_view part : {"The answer i", "The answer is ", "The sorted list is [ ", "1 ", "1 . ", "[ ] ",
                                        "- ", "   ", "T", "1, ", ". Thus"}) {
      for (const AnswerKind kind :
           {AnswerKind::number, AnswerKind::statement, AnswerKind::list, AnswerKind::number_list})
        extract_answer(kind, std::string(sentence) + repeated(part, kBytes));
    }
  }
  // 132 MB in all. Anything worse than linear takes hours.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

TEST(Answer, StandsBehindTheScratchpad) {
  const Task& addition = find_task("addition");
  EXPECT_EQ(addition.answer("Thinking step by step: out The answer is 5. . Thus, The answer is 1 2."), "12");
  EXPECT_EQ(addition.answer("Thinking step by step: out The answer is 5. . Thus, 1 2."), kNone);
  EXPECT_EQ(addition.answer("Thinking step by step: out 5 The answer is 1 2."), "12") << "a scratchpad without end";
}

TEST(Answer, IsRightWhateverStandsAroundIt) {
  const Task& sort = find_task("sort");
  const std::string target = "Thinking step by step: in B out A . Thus, The sorted list is [ A, B ].";
  EXPECT_TRUE(sort.is_right(target, target));
  EXPECT_TRUE(sort.is_right("Thinking step by step: in C out C . Thus, The sorted list is [ A, B ]. B B", target));
  EXPECT_TRUE(sort.is_right("The sorted list is [ A, B ].", target));
  EXPECT_FALSE(sort.is_right("The sorted list is [ B, A ].", target));
  EXPECT_FALSE(sort.is_right("The sorted list is [ A ].", target));
  EXPECT_FALSE(sort.is_right("", target));
  EXPECT_FALSE(find_task("copy-rsc").is_right("a a b", "a a")) << "the whole target counts";
}

}  // namespace
}  // namespace lengthwise
