#include "tests/cli/program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <sstream>
#include <thread>

#include "core/files.h"
#include "tests/core/temporary_folder.h"

extern char** environ;

namespace lengthwise {

/// Files instead of pipes: nothing can fill up and nothing has to be read in turns.
struct RunningProgram::Files {
  TemporaryFolder folder;
  std::string in = (folder / "in").string();
  std::string out = (folder / "out").string();
  std::string err = (folder / "err").string();
};

RunningProgram::RunningProgram(const std::vector<std::string>& arguments, const std::string& input)
    : files_(std::make_unique<Files>()) {
  write_file(files_->in, input);
  std::vector<std::string> words{LENGTHWISE_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, files_->in.c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, files_->out.c_str(), O_WRONLY | O_CREAT, 0600);
  posix_spawn_file_actions_addopen(&actions, 2, files_->err.c_str(), O_WRONLY | O_CREAT, 0600);
  ended_ = posix_spawn(&child_, argv[0], &actions, nullptr, argv.data(), environ) != 0;
  posix_spawn_file_actions_destroy(&actions);
  if (ended_) ADD_FAILURE() << "cannot run " << LENGTHWISE_PROGRAM;
}

RunningProgram::~RunningProgram() {
  if (ended_) return;
  send(SIGKILL);
  waitpid(child_, &status_, 0);
}

void RunningProgram::send(int signal) const {
  if (!ended_) ::kill(child_, signal);
}

bool RunningProgram::ends_within(double seconds) {
  const auto start = std::chrono::steady_clock::now();
  while (!ended_) {
    ended_ = waitpid(child_, &status_, WNOHANG) == child_;
    if (ended_ || std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() >= seconds) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return ended_;
}

Outcome RunningProgram::wait() {
  Outcome outcome;
  if (child_ == 0) return outcome;
  if (!ended_) waitpid(child_, &status_, 0);
  ended_ = true;
  outcome.status = WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
  outcome.out = read_file(files_->out);
  outcome.err = read_file(files_->err);
  return outcome;
}

Outcome run_program(const std::vector<std::string>& arguments, const std::string& input) {
  return RunningProgram(arguments, input).wait();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string mistake(const std::vector<std::string>& arguments, const std::string& input) {
  const Outcome outcome = run_program(arguments, input);
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(lines_of(outcome.err).size(), 1u) << outcome.err;
  return outcome.err;
}

}  // namespace lengthwise
