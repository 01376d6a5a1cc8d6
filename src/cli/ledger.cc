#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "cli/commands.h"
#include "cli/help.h"
#include "cli/options.h"
#include "core/error.h"
#include "core/files.h"
#include "ledger/entry.h"
#include "ledger/paper_table.h"

namespace lengthwise {
namespace {

struct AddCommand {
  std::vector<std::string> folders;
  std::string to;
  bool replace = false;
  GivenOrigin given;

  template <class Visitor>
  void visit(Visitor&& field) {
    field("to", to, "folder of the ledger: one file a run");
    field("replace", replace, "overwrite what the ledger has of the same run");
    field("commit", given.commit, "of the program that made runs which do not say it themselves");
    field("machine", given.machine, "that made them: the name of the GPU or the CPU");
  }
};

void add_runs(const AddCommand& command) {
  if (command.to.empty()) fail("--to DIR is needed: the folder of the ledger");
  // Read everything first, so that a mistake leaves the ledger as it was.
  NewEntries all;
  for (const std::string& folder : command.folders) {
    NewEntries some = entries_of(folder, command.given);
    all.unfinished += some.unfinished;
    all.entries.insert(all.entries.end(), some.entries.begin(), some.entries.end());
  }
  if (all.entries.empty()) fail("{} has no finished run", command.folders.front());
  std::map<std::string, std::string> texts;
  for (const LedgerEntry& entry : all.entries) {
    const auto [other, fresh] = texts.try_emplace(entry.run, entry_text(entry));
    if (!fresh && other->second != entry_text(entry)) fail("two different runs are called {}", entry.run);
    check_entry(command.to, entry, command.replace);
  }
  size_t added = 0;
  for (const LedgerEntry& entry : all.entries) added += write_entry(command.to, entry) ? 1 : 0;
  std::cout << fmt::format("{}: {} added", command.to, added);
  if (added < all.entries.size()) std::cout << fmt::format(", {} there already", all.entries.size() - added);
  if (all.unfinished > 0) std::cout << fmt::format(", {} not finished", all.unfinished);
  std::cout << '\n';
}

struct TableCommand {
  std::string ledger;
  std::string into;

  template <class Visitor>
  void visit(Visitor&& field) {
    field("into", into, "a document whose marked part the table replaces; by default it is printed");
  }
};

void show_table(const TableCommand& command) {
  const std::string table = paper_table(read_ledger(command.ledger));
  if (command.into.empty()) {
    std::cout << table;
    return;
  }
  write_file(command.into, with_table(read_file(command.into), table, command.into));
}

}  // namespace

void add_ledger_command(CLI::App& app) {
  CLI::App& command = add_command(app, "ledger", "keep results of runs as small files; make the paper's table");
  CLI::App& add = add_command(command, "add", "write the results of finished runs to a ledger");
  auto add_options_of = std::make_shared<AddCommand>();
  add.add_option("DIR", add_options_of->folders, "runs, studies, or folders with runs in them")
      ->required()
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_options(add, *add_options_of);
  add.callback([add_options_of] { add_runs(*add_options_of); });
  CLI::App& table = add_command(command, "table", "the founding study's table made again from a ledger, as Markdown");
  auto table_options = std::make_shared<TableCommand>();
  table.add_option("DIR", table_options->ledger, "folder of the ledger")->required();
  add_options(table, *table_options);
  table.callback([table_options] { show_table(*table_options); });
}

}  // namespace lengthwise
