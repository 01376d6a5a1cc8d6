#include "cli/app.h"

#include <CLI/CLI.hpp>
#include <iostream>

#include "cli/commands.h"
#include "cli/help.h"
#include "core/error.h"
#include "core/text.h"
#include "core/version.h"
#include "runtime/origin.h"

namespace lengthwise {
namespace {

/// The command the user had reached when parsing stopped.
const CLI::App& reached(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : reached(*chosen.back());
}

/// `lengthwise tasks show`
std::string full_name(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name() : full_name(*app.get_parent()) + " " + app.get_name();
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

[[noreturn]] void fail_left_over(const CLI::App& command, const std::vector<std::string>& left_over) {
  const std::string help = fmt::format("; see `{} --help`", full_name(command));
  const std::vector<std::string> commands = command_names(command);
  // Where something else stands in place of a command, the options after it are that command's.
  const std::string& argument = left_over.front();
  if (!commands.empty() && !argument.starts_with("-")) {
    const std::string nearest = did_you_mean(argument, commands);
    fail("there is no sub-command '{}'{}", excerpt(argument), nearest.empty() ? help : nearest);
  }
  for (const std::string& option : left_over) {
    if (option.size() < 2 || option[0] != '-') continue;
    const std::string name = option.substr(0, option.find('='));
    // Among options of one letter everything is one key away from everything.
    const std::string nearest = name.size() > 2 ? did_you_mean(name, option_names(command)) : "";
    fail("there is no option '{}'{}", excerpt(name), nearest.empty() ? help : nearest);
  }
  fail("'{}' is one argument too many{}", excerpt(argument), help);
}

/// The option that stands without its value, or the argument that does not stand there at all; CLI11 says so in words.
const CLI::Option* find_culprit(const CLI::App& command, const CLI::ParseError& error) {
  const bool required = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError);
  const bool mismatch = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ArgumentMismatch);
  const std::string message = error.what();
  for (const CLI::Option* option : command.get_options()) {
    if (required && option->get_required() && option->count() == 0) return option;
    if (mismatch && option->get_type_size() > 0 && message.starts_with(option->get_name() + ":")) return option;
  }
  return nullptr;
}

[[noreturn]] void fail_to_parse(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = reached(app);
  const std::vector<std::string> left_over = app.remaining(true);
  // An argument nobody knows is the likely cause of whatever else is missing.
  if (!left_over.empty()) fail_left_over(command, left_over);
  const CLI::Option* culprit = find_culprit(command, error);
  if (culprit != nullptr) {
    fail("{}; see `{} --help`",
         culprit->get_required() ? culprit->get_name() + " is missing" : culprit->get_name() + " needs a value",
         full_name(command));
  }
  fail("{}; see `{} --help`", collapse_spaces(error.what()), full_name(command));
}

/// One heading for every command, and the app's footer for the app alone.
void tidy_commands(CLI::App& app) {
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    command->group("Commands");
    command->footer("");
    tidy_commands(*command);
  }
}

}  // namespace

int run(int argc, char** argv) {
  CLI::App app("Lengthwise: which positional encoding lets a decoder work on longer sequences?", "lengthwise");
  prepare_command(app);
  app.set_version_flag("--version",
                       fmt::format("lengthwise {} (commit {}, torch {})", kVersion, build_commit(), kTorchVersion),
                       "print the version and exit");
  app.footer("`lengthwise COMMAND --help` explains a command; `lengthwise --version` says which this is.");
  add_tasks_command(app);
  add_data_command(app);
  add_text_command(app);
  add_encodings_command(app);
  add_train_command(app);
  add_eval_command(app);
  add_generate_command(app);
  add_study_command(app);
  add_merge_command(app);
  add_compare_command(app);
  add_report_command(app);
  add_ledger_command(app);
  add_theory_command(app);
  add_waveform_command(app);
  add_analysis_commands(app);
  add_doctor_command(app);
  tidy_commands(app);
  // The commands, which have taken over the help option by now, need the lines of the screen.
  app.get_help_ptr()->group("");
  app.get_version_ptr()->group("");
  int status = 0;
  try {
    app.parse(argc, argv);
    if (app.get_subcommands().empty()) std::cout << app.help();
  } catch (const CLI::CallForHelp&) {
    std::cout << app.help();
  } catch (const CLI::CallForVersion& version) {
    std::cout << version.what() << '\n';
  } catch (const CLI::ParseError& error) {
    fail_to_parse(app, error);
  } catch (const Exit& exit) {
    status = exit.status;
  }
  std::cout.flush();
  if (!std::cout) fail("cannot write to standard output");
  return status;
}

}  // namespace lengthwise
