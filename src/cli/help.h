#pragma once
/// How `--help` looks, and the settings every command shares.
#include <CLI/App.hpp>
#include <string>

namespace lengthwise {

/// To be called on the app and, by `add_command`, on each of its commands: our help texts, at most one sub-command, and
/// of an option given twice the last value counts.
void prepare_command(CLI::App& command);

/// Adds a sub-command, prepared.
CLI::App& add_command(CLI::App& parent, const std::string& name, const std::string& summary);

}  // namespace lengthwise
