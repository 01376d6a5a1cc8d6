/// The program as a whole: exit statuses, error lines, help.
#include "tests/cli/program.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/version.h"

namespace lengthwise {
namespace {

void expect_mistake(const std::vector<std::string>& arguments, const std::string& message) {
  EXPECT_EQ(mistake(arguments), "lengthwise: " + message + "\n");
}

TEST(Program, AloneExplainsItselfOnOneScreen) {
  const Outcome outcome = run_program({});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_LE(lines_of(outcome.out).size(), 24u) << outcome.out;
  for (const std::string& line : lines_of(outcome.out)) EXPECT_LE(line.size(), 100u) << line;
  for (const char* command : {"tasks", "data", "doctor", "--version"}) {
    EXPECT_NE(outcome.out.find(command), std::string::npos) << command;
  }
  EXPECT_EQ(run_program({"--help"}).out, outcome.out);
}

TEST(Program, HelpOfEveryCommandIsNotAMistake) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"tasks", "--help"},
                                                    {"tasks", "show", "--help"},
                                                    {"tasks", "solve", "-h"},
                                                    {"data", "--help"},
                                                    {"compare", "--help"},
                                                    {"report", "--help"},
                                                    {"doctor", "--help"}}) {
    const Outcome outcome = run_program(arguments);
    EXPECT_EQ(outcome.status, 0) << arguments[0];
    EXPECT_EQ(outcome.err, "");
    EXPECT_NE(outcome.out.find("Usage: lengthwise " + arguments[0]), std::string::npos) << outcome.out;
  }
}

TEST(Program, SaysItsVersion) {
  const Outcome outcome = run_program({"--version"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_TRUE(outcome.out.starts_with(std::string("lengthwise ") + kVersion + " (commit ")) << outcome.out;
  EXPECT_TRUE(outcome.out.ends_with(std::string(", torch ") + kTorchVersion + ")\n")) << outcome.out;
}

TEST(Program, NamesTheNearestOption) {
  expect_mistake({"tasks", "show", "addition", "--sed", "3"}, "there is no option '--sed'; did you mean '--seed'?");
  expect_mistake({"tasks", "show", "addition", "--sed=3"}, "there is no option '--sed'; did you mean '--seed'?");
  expect_mistake({"--verson"}, "there is no option '--verson'; did you mean '--version'?");
  expect_mistake({"doctor", "-q"}, "there is no option '-q'; see `lengthwise doctor --help`");
}

TEST(Program, NamesTheNearestCommand) {
  expect_mistake({"evaluate"}, "there is no sub-command 'evaluate'; did you mean 'eval'?");
  expect_mistake({"taks"}, "there is no sub-command 'taks'; did you mean 'tasks'?");
  expect_mistake({"tasks", "shwo", "addition"}, "there is no sub-command 'shwo'; did you mean 'show'?");
  expect_mistake({"trian", "--task", "sort"}, "there is no sub-command 'trian'; did you mean 'train'?");
  expect_mistake({"tasks", "shwo", "addition", "--seed", "3"}, "there is no sub-command 'shwo'; did you mean 'show'?");
  expect_mistake({"--quiet", "trian"}, "there is no option '--quiet'; see `lengthwise --help`");
  expect_mistake({"banana"}, "there is no sub-command 'banana'; see `lengthwise --help`");
}

TEST(Program, RefusesWhatItDoesNotUnderstand) {
  expect_mistake({"doctor", "now"}, "'now' is one argument too many; see `lengthwise doctor --help`");
  expect_mistake({"tasks", "show", "addition", "--seed"}, "--seed needs a value; see `lengthwise tasks show --help`");
  expect_mistake({"tasks", "show"}, "TASK is missing; see `lengthwise tasks show --help`");
  expect_mistake({"tasks", "show", "addition", "--count", "x"}, "--count: 'x' is not a whole number");
}

TEST(Program, ComplainsWhenItsOutputIsLost) {
  // A shell is the simplest way to a standard output that cannot be written.
  const std::string command = std::string(LENGTHWISE_PROGRAM) + " tasks > /dev/full 2> /dev/null";
  const int status = std::system(command.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 2);
}

TEST(Doctor, DescribesTheMachine) {
  const Outcome outcome = run_program({"doctor"});
  EXPECT_EQ(outcome.status, 0);
  for (const char* name : {"lengthwise", "torch", "compiler", "CUDA", "CPU", "threads", "precisions", "fp32", "bf16",
                           "fused kernels", "memory", "disk"}) {
    EXPECT_NE(outcome.out.find(name), std::string::npos) << name << " is not in\n" << outcome.out;
  }
}

TEST(Doctor, SpeaksJson) {
  const Outcome outcome = run_program({"doctor", "--json"});
  EXPECT_EQ(outcome.status, 0);
  const auto object = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(object.at("lengthwise"), kVersion);
  EXPECT_GE(object.at("torch_threads").get<int>(), 1);
  EXPECT_TRUE(object.at("fused_kernels").is_array());
  EXPECT_TRUE(object.at("bf16_instructions").is_array());
  EXPECT_TRUE(object.at("cuda").is_null() || object.at("cuda").is_string());
}

}  // namespace
}  // namespace lengthwise
