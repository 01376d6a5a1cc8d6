// The task that docs/adding_a_task.md walks through, compiled from its text (tests/CMakeLists.txt).
#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.h"
#include "tests/tasks/draws.h"

namespace lengthwise {

TaskList documented_make_majority();

namespace {

TEST(DocumentedTask, GeneratorSolverAndAThirdComputationAgree) {
  const TaskList list = documented_make_majority();
  const Task& task = *list.front();
  for (const Split split : {Split::train, Split::test}) {
    Sampler sampler(task, split);
    for (int i = 0; i < 500; ++i) {
      Example example;
      task.generate(sampler.next(), {}, example);
      const std::string letters = example.prompt.substr(example.prompt.find(" in ") + 4);
      const auto a = std::count(letters.begin(), letters.end(), 'a');
      const auto b = std::count(letters.begin(), letters.end(), 'b');
      ASSERT_EQ(a + b, example.length);
      ASSERT_EQ(example.target, a > b ? "The answer is a." : a < b ? "The answer is b." : "The answer is neither.");
      ASSERT_EQ(task.solve(example.prompt, {}), example.target);
    }
  }
}

TEST(DocumentedTask, SaysWhatItCannotRead) {
  const TaskList list = documented_make_majority();
  try {
    list.front()->solve("Which is more frequent, a or b, in a c ?", {});
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(std::string(error.what()),
              "cannot parse \"Which is more frequent, a or b, in a c ?\": expected 'a' or 'b' at word 12, found 'c'");
  }
}

}  // namespace
}  // namespace lengthwise
