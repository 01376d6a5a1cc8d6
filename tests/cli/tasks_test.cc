/// `lengthwise tasks`, `tasks show` and `tasks solve`.
#include <gtest/gtest.h>

#include <iostream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "cli/app.h"
#include "tasks/registry.h"
#include "tests/cli/program.h"

namespace lengthwise {
namespace {

std::vector<nlohmann::json> show(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"tasks", "show", "--json"});
  const Outcome outcome = run_program(arguments);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  std::vector<nlohmann::json> examples;
  for (const std::string& line : lines_of(outcome.out)) examples.push_back(nlohmann::json::parse(line));
  return examples;
}

/// The same without a process of its own, for many calls in a row.
std::vector<nlohmann::json> show_here(const std::string& task) {
  std::vector<std::string> words{"lengthwise", "tasks", "show", "--json", "--count", "4", task};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  std::ostringstream captured;
  std::streambuf* const before = std::cout.rdbuf(captured.rdbuf());
  const int status = run(static_cast<int>(argv.size()), argv.data());
  std::cout.rdbuf(before);
  EXPECT_EQ(status, 0);
  std::vector<nlohmann::json> examples;
  for (const std::string& line : lines_of(captured.str())) examples.push_back(nlohmann::json::parse(line));
  return examples;
}

TEST(TasksCommand, ListsEveryTask) {
  const Outcome table = run_program({"tasks"});
  EXPECT_EQ(table.status, 0);
  EXPECT_EQ(lines_of(table.out).size(), tasks().size() + 2);
  for (const auto& task : tasks()) EXPECT_NE(table.out.find(task->info().summary), std::string::npos);
  EXPECT_EQ(lines_of(run_program({"tasks", "--names"}).out), task_names());
}

TEST(TasksShow, SeparatesPromptAndTarget) {
  const Outcome outcome = run_program({"tasks", "show", "addition", "--length", "3", "--count", "2"});
  EXPECT_EQ(outcome.status, 0);
  int prompts = 0;
  int targets = 0;
  for (const std::string& line : lines_of(outcome.out)) {
    prompts += line.starts_with("prompt  Compute:") ? 1 : 0;
    targets += line.starts_with("target  The answer is ") ? 1 : 0;
  }
  EXPECT_EQ(prompts, 2);
  EXPECT_EQ(targets, 2);
}

TEST(TasksShow, WritesEveryTaskAndSolvesWhatItWrote) {
  for (const auto& task : tasks()) {
    const auto examples = show_here(task->info().name);
    EXPECT_EQ(examples.size(), 4u) << task->info().name;
    for (const auto& example : examples) {
      EXPECT_EQ(task->solve(example.at("prompt").get<std::string>(), {}), example.at("target").get<std::string>())
          << example;
      EXPECT_EQ(example.at("length"), examples[0].at("length"));
    }
  }
}

TEST(TasksShow, FollowsLengthWordingAndScratchpad) {
  for (const auto& example :
       show({"addition", "--length", "12", "--wording", "released", "--scratchpad", "minimal", "--count", "30"})) {
    EXPECT_EQ(example.at("length"), 12);
    const auto prompt = example.at("prompt").get<std::string>();
    const auto target = example.at("target").get<std::string>();
    EXPECT_TRUE(prompt.starts_with("Compute ")) << prompt;
    EXPECT_NE(target.find(" comp "), std::string::npos) << target;
    EXPECT_EQ(target.find(" in "), std::string::npos) << target;
  }
}

TEST(TasksShow, SpreadsOverTheBinsOfALength) {
  std::set<std::string> categories;
  for (const auto& example : show({"addition", "--length", "4", "--count", "7"}))
    categories.insert(example.at("category"));
  EXPECT_EQ(categories.size(), 7u) << "a longer number of 4 digits comes in 1-by-4 to 4-by-4 to 4-by-1";
}

TEST(TasksShow, IsAFunctionOfTheSeed) {
  EXPECT_EQ(show({"addition", "--seed", "5"}), show({"addition", "--seed", "5"}));
  EXPECT_NE(show({"addition", "--seed", "5"}), show({"addition", "--seed", "6"}));
}

TEST(TasksShow, SaysWhatIsImpossible) {
  EXPECT_EQ(mistake({"tasks", "show", "additoin"}),
            "lengthwise: there is no task 'additoin' (`lengthwise tasks` lists them); did you mean 'addition'?\n");
  EXPECT_EQ(mistake({"tasks", "show", "addition", "--length", "0"}),
            "lengthwise: --length: 0 does not lie between 1 and 10000\n");
  EXPECT_EQ(mistake({"tasks", "show", "addition", "--count", "0"}),
            "lengthwise: --count: 0 does not lie between 1 and 1000000\n");
  EXPECT_EQ(mistake({"tasks", "show", "addition", "--seed", "-1"}), "lengthwise: --seed: -1 is negative\n");
  EXPECT_NE(mistake({"tasks", "show", "addition", "--scratchpad", "ful"}).find("did you mean 'full'"),
            std::string::npos);
  EXPECT_NE(mistake({"tasks", "show", "addition", "--wording", "print"}).find("did you mean 'printed'"),
            std::string::npos);
}

TEST(TasksShow, KnowsWhichLengthsThereAre) {
  EXPECT_EQ(mistake({"tasks", "show", "scan", "--length", "29"}),
            "lengthwise: the task scan has no problems of length 29 (actions); the nearest length it has is 28\n");
  EXPECT_NE(mistake({"tasks", "show", "pcfg", "--length", "10000"}), "");
  EXPECT_NE(mistake({"tasks", "show", "scan", "--length", "1", "--count", "1000"}).find("has only"), std::string::npos);
}

TEST(TasksSolve, AnswersLineByLine) {
  const Outcome outcome =
      run_program({"tasks", "solve", "addition"}, "Compute: 5 3 7 2 6 + 1 9 1 7 ?\r\nCompute 9 5 + 7 ?\n");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "The answer is 5 5 6 4 3.\nThe answer is 1 0 2.\n");
  EXPECT_EQ(run_program({"tasks", "solve", "addition"}, "").out, "");
}

TEST(TasksSolve, WritesScratchpads) {
  const Outcome outcome = run_program({"tasks", "solve", "addition", "--scratchpad", "full"}, "Compute: 9 5 + 7 ?");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(outcome.out.starts_with("Thinking step by step: in 5, 7 comp")) << outcome.out;
  EXPECT_TRUE(outcome.out.ends_with("The answer is 1 0 2.\n")) << outcome.out;
}

TEST(TasksSolve, NamesTheBadLine) {
  const Outcome outcome = run_program({"tasks", "solve", "addition"}, "Compute: 1 + 2 ?\nCompute: 1 - 2 ?\n");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.out, "The answer is 3.\n") << "what came before the bad line has been answered";
  EXPECT_EQ(outcome.err.find("lengthwise: standard input, line 2: cannot parse \"Compute: 1 - 2 ?\""), 0u)
      << outcome.err;
}

TEST(TasksSolve, RefusesAScratchpadTheTaskDoesNotHave) {
  EXPECT_NE(mistake({"tasks", "solve", "scan", "--scratchpad", "full"}, "jump\n").find("scratchpad"),
            std::string::npos);
}

}  // namespace
}  // namespace lengthwise
