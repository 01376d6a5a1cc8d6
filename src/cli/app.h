#pragma once
/// The command line: `lengthwise COMMAND [OPTIONS]`.

namespace lengthwise {

/// Parses the arguments and runs the command they name; returns the exit status. `--help`, `--version` and no argument
/// at all print and return 0. Whatever the user got wrong, from a misspelt option to a full disk, is a UserError of one
/// line.
int run(int argc, char** argv);

}  // namespace lengthwise
