#pragma once
/// Runs the built program as a user would.
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

std::vector<std::string> lines_of(const std::string& text);

}  // namespace lengthwise
