#include "cli/help.h"

#include <CLI/CLI.hpp>
#include <memory>

namespace lengthwise {
namespace {

class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() {
    column_width(32);
    label("Positionals", "Arguments");
    label("Subcommands", "Commands");
    label("SUBCOMMAND", "COMMAND");
    label("REQUIRED", "");
  }

  /// CLI11 writes `--no-dedup{false}` for the negative name of a flag.
  std::string make_option_name(const CLI::Option* option, bool positional) const override {
    std::string name = CLI::Formatter::make_option_name(option, positional);
    for (size_t open = name.find('{'); open != std::string::npos; open = name.find('{')) {
      name.erase(open, name.find('}', open) + 1 - open);
    }
    for (size_t comma = name.find(",-"); comma != std::string::npos; comma = name.find(",-", comma)) {
      name.insert(comma + 1, " ");
    }
    return name;
  }
};

}  // namespace

void prepare_command(CLI::App& command) {
  command.formatter(std::make_shared<HelpFormatter>());
  command.set_help_flag("--help,-h", "print this help and exit");
  command.require_subcommand(0, 1);
  command.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

CLI::App& add_command(CLI::App& parent, const std::string& name, const std::string& summary) {
  CLI::App& command = *parent.add_subcommand(name, summary);
  prepare_command(command);
  return command;
}

}  // namespace lengthwise
