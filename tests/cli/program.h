#pragma once
/// Runs the built program as a user would.
#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

namespace lengthwise {

struct Outcome {
  int status = -1;  ///< exit status; 128 + signal if it was killed
  std::string out;
  std::string err;
};

/// Runs `lengthwise ARGUMENTS...` with `input` on its standard input.
Outcome run_program(const std::vector<std::string>& arguments, const std::string& input = "");

/// The same without waiting for its end. It is killed if it still runs when this object goes.
class RunningProgram {
 public:
  explicit RunningProgram(const std::vector<std::string>& arguments, const std::string& input = "");
  ~RunningProgram();
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;

  void send(int signal) const;
  /// Whether it ends within so many seconds.
  bool ends_within(double seconds);
  Outcome wait();

 private:
  struct Files;

  std::unique_ptr<Files> files_;
  pid_t child_ = 0;
  bool ended_ = true;
  int status_ = 0;
};

std::vector<std::string> lines_of(const std::string& text);

bool contains(const std::string& text, const std::string& part);

/// What the program says about a user's mistake: status 2, nothing on standard output, one line on standard error.
std::string mistake(const std::vector<std::string>& arguments, const std::string& input = "");

}  // namespace lengthwise
