#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "cli/commands.h"
#include "cli/options.h"
#include "core/error.h"
#include "core/files.h"
#include "study/merge_studies.h"

namespace lengthwise {
namespace {

struct MergeCommand {
  std::vector<std::string> pieces;
  std::string out;

  template <class Visitor>
  void visit(Visitor&& field) {
    field("out", out, "folder to lay them together in: a new one, or one of the same study");
  }
};

void run(const MergeCommand& command) {
  if (command.out.empty()) fail("--out DIR is needed: the folder to lay the pieces together in");
  const std::vector<std::filesystem::path> pieces(command.pieces.begin(), command.pieces.end());
  const MergedStudy merged = merge_studies(pieces, command.out);
  std::cout << fmt::format("{}: {} of {} runs finished", shown(command.out), merged.finished, merged.runs);
  if (merged.failed > 0) std::cout << fmt::format(", {} failed", merged.failed);
  std::cout << fmt::format("\ntables:  lengthwise compare {0}\nreport:  lengthwise report {0}\n", shown(command.out));
}

}  // namespace

void add_merge_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("merge", "lay pieces of one study together");
  auto options = std::make_shared<MergeCommand>();
  command->add_option("DIR", options->pieces, "folders of the same study, done in pieces (study --only)")
      ->required()
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_options(*command, *options);
  command->callback([options] { run(*options); });
}

}  // namespace lengthwise
