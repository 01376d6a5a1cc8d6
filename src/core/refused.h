#pragma once
/// What the machine refuses: memory, threads, files. Neither a bug of ours nor something that one could have checked
/// for beforehand; whoever started the program can mend it.
#include <exception>
#include <string>

namespace lengthwise {

/// One line for the user, or "" when the exception is something else (a UserError, a bug). torch's own exceptions are
/// known by their text, on the CPU and on a GPU.
std::string refused_by_machine(const std::exception& error);

}  // namespace lengthwise
