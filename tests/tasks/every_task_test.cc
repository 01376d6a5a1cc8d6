// What holds for every task of the registry, in both wordings and with every scratchpad of the paper.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <unordered_set>

#include "core/error.h"
#include "core/text.h"
#include "tasks/scratchpad.h"
#include "tests/tasks/draws.h"
#include "tests/tasks/oracle.h"
#include "tests/tasks/step_oracle.h"

namespace lengthwise {
namespace {

/// A word, or a symbol with `<` where it stands directly after something and `>` where a word follows it directly.
/// Of two symbols that touch, it is the right one that leans on the left one.
template <class Use>
void for_each_with_glue(std::string_view text, Use&& use) {
  const std::vector<Piece> pieces = split_pieces(text);
  for (size_t i = 0; i < pieces.size(); ++i) {
    std::string each(pieces[i].text);
    if (!pieces[i].is_word) {
      const bool touches_next = i + 1 < pieces.size() && pieces[i + 1].glued;
      if (pieces[i].glued) each.insert(0, "<");
      if (touches_next && pieces[i + 1].is_word) each += '>';
    }
    use(each);
  }
}

using Lexicon = std::unordered_set<std::string>;

Lexicon lexicon_pieces(const Task& task) {
  Lexicon pieces;
  for (const std::string& text : task.lexicon()) {
    for_each_with_glue(text, [&](const std::string& piece) { pieces.insert(piece); });
  }
  return pieces;
}

/// A piece of the text that the lexicon lacks, or "".
std::string piece_outside(const Lexicon& lexicon, std::string_view text) {
  std::string outside;
  for_each_with_glue(text, [&](const std::string& piece) {
    if (lexicon.count(piece) == 0) outside = piece;
  });
  return outside;
}

/// Which of the paper's formats a task can be asked for.
std::vector<NamedScratchpad> formats_of(const TaskInfo& info) {
  std::vector<NamedScratchpad> formats;
  for (const NamedScratchpad& named : named_scratchpads()) {
    if (info.scratchpad || !named.format.any()) formats.push_back(named);
  }
  return formats;
}

struct Case {
  const Task& task;
  Style style;
  const Lexicon& lexicon;
};

void check_example(const Case& c, const Draw& draw, Example& reused) {
  const TaskInfo& info = c.task.info();
  c.task.generate(draw, c.style, reused);
  const std::string &prompt = reused.prompt, &target = reused.target;
  SCOPED_TRACE(prompt);

  ASSERT_EQ(reused.length, draw.bin.length);
  ASSERT_TRUE((draw.split == Split::test ? info.test : info.train).contains(reused.length));
  ASSERT_FALSE(reused.category.empty());
  ASSERT_EQ(prompt, collapse_spaces(prompt));
  ASSERT_EQ(target, collapse_spaces(target));

  ASSERT_EQ(c.task.solve(prompt, c.style.scratchpad), target) << "solver";
  ASSERT_TRUE(c.task.answer(target)) << target;
  ASSERT_EQ(c.task.answer(after_scratchpad(target)), c.task.answer(target));
  ASSERT_TRUE(c.task.is_right(after_scratchpad(target), target));
  if (const auto length = oracle::length(info.name, prompt)) {
    ASSERT_EQ(*length, static_cast<size_t>(reused.length));
  }
  if (const auto answer = oracle::answer(info.name, prompt)) {
    ASSERT_EQ(after_scratchpad(target), *answer) << "oracle";
  }
  Scratchpad format = c.style.scratchpad;
  format.variables = format.variables && info.variables;
  if (format.any()) {
    ASSERT_EQ(oracle::fault(info.name, prompt, target, format), "");
  }

  ASSERT_EQ(piece_outside(c.lexicon, prompt), "");
  ASSERT_EQ(piece_outside(c.lexicon, target), "");
}

void check_examples(const Task& task, int64_t count) {
  const Lexicon lexicon = lexicon_pieces(task);
  for (const Wording wording : {Wording::printed, Wording::released}) {
    for (const NamedScratchpad& named : formats_of(task.info())) {
      SCOPED_TRACE(fmt::format("{}, {}, scratchpad {}", task.info().name, to_text(wording), named.name));
      const Case c{task, {.wording = wording, .scratchpad = named.format}, lexicon};
      Sampler train(task, Split::train), test(task, Split::test);
      Example reused;
      for (int64_t i = 0; i < count; ++i) {
        check_example(c, (i % 2 == 0 ? train : test).next(), reused);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

class Examples : public testing::TestWithParam<std::string> {};
class ExamplesLong : public testing::TestWithParam<std::string> {};

TEST_P(Examples, GeneratorSolverOracleAndLexiconAgree) {
  check_examples(find_task(GetParam()), 500);
}

TEST_P(ExamplesLong, GeneratorSolverOracleAndLexiconAgree) {
  check_examples(find_task(GetParam()), 100'000);
}

std::string test_name(const testing::TestParamInfo<std::string>& name) {
  return oracle::joined(oracle::split(name.param, '-'), "_");
}

INSTANTIATE_TEST_SUITE_P(EveryTask, Examples, testing::ValuesIn(task_names()), test_name);
INSTANTIATE_TEST_SUITE_P(EveryTask, ExamplesLong, testing::ValuesIn(task_names()), test_name);

TEST(EveryTask, AnExampleDependsOnItsDrawAlone) {
  for (const auto& task : tasks()) {
    SCOPED_TRACE(task->info().name);
    Sampler sampler(*task, Split::train);
    Example reused;
    for (int i = 0; i < 100; ++i) {
      const Draw draw = sampler.next();
      task->generate(sampler.next(), {}, reused);
      task->generate(draw, {}, reused);
      Example fresh;
      task->generate(draw, {}, fresh);
      ASSERT_EQ(reused.prompt, fresh.prompt);
      ASSERT_EQ(reused.target, fresh.target);
      ASSERT_EQ(reused.category, fresh.category);
    }
  }
}

TEST(EveryTask, TheScratchpadLeavesPromptAndAnswerAlone) {
  for (const auto& task : tasks()) {
    SCOPED_TRACE(task->info().name);
    Sampler sampler(*task, Split::test);
    for (int i = 0; i < 20; ++i) {
      const Draw draw = sampler.next();
      Example plain, worked;
      task->generate(draw, {}, plain);
      for (const NamedScratchpad& named : formats_of(task->info())) {
        task->generate(draw, {.scratchpad = named.format}, worked);
        ASSERT_EQ(worked.prompt, plain.prompt) << named.name;
        ASSERT_EQ(after_scratchpad(worked.target), plain.target) << named.name;
        ASSERT_EQ(task->answer(worked.target), task->answer(plain.target)) << named.name;
      }
    }
  }
}

TEST(EveryTask, TargetsDifferWhereAnswersDo) {
  for (const auto& task : tasks()) {
    SCOPED_TRACE(task->info().name);
    for (const Wording wording : {Wording::printed, Wording::released}) {
      Sampler sampler(*task, Split::train);
      std::map<std::string, std::string> targets;
      for (int i = 0; i < 300; ++i) {
        Example example;
        task->generate(sampler.next(), {.wording = wording}, example);
        const auto [found, fresh] = targets.emplace(task->answer(example.target).value(), example.target);
        ASSERT_EQ(found->second, example.target) << "an answer leaves something out";
      }
    }
  }
}

TEST(EveryTask, SpacingOfAPromptDoesNotMatter) {
  for (const auto& task : tasks()) {
    for (const Wording wording : {Wording::printed, Wording::released}) {
      Sampler sampler(*task, Split::train);
      for (int i = 0; i < 50; ++i) {
        Example example;
        task->generate(sampler.next(), {.wording = wording}, example);
        std::string wide = "\t ";
        for (const Piece& piece : split_pieces(example.prompt)) wide += std::string(piece.text) + " \n ";
        ASSERT_EQ(task->solve(wide, {}), example.target) << wide;
      }
    }
  }
}

TEST(EveryTask, HasAnInfoOfItsOwn) {
  std::set<std::string> names, papers;
  for (const auto& task : tasks()) {
    const TaskInfo& info = task->info();
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_FALSE(info.name.empty());
    const bool of_the_paper = !info.paper.empty();
    EXPECT_TRUE(!of_the_paper || papers.insert(info.paper).second) << info.paper;
    EXPECT_TRUE(info.group == "primitive" || info.group == "reasoning" || info.group == "classic" ||
                (info.group.empty() && !of_the_paper))
        << info.name << ": group '" << info.group << "'";
    EXPECT_FALSE(info.summary.empty());
    EXPECT_FALSE(info.unit.empty());
    EXPECT_LT(info.train.high, info.test.low);
    EXPECT_TRUE(info.scratchpad || !info.variables);
    EXPECT_EQ(&find_task(info.name), task.get());
    EXPECT_TRUE(!of_the_paper || &find_task(info.paper) == task.get());
    EXPECT_GE(info.data_version, 1);
  }
}

}  // namespace
}  // namespace lengthwise
