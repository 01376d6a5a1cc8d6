#include <iostream>

#include "cli/commands.h"
#include "core/table.h"
#include "positional/registry.h"

namespace lengthwise {

void add_encodings_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("encodings", "list the positional encodings");
  command->callback([] {
    Table table({"name", "formula", "paper", "learned", "translation invariant"});
    for (const EncodingEntry* entry : encodings()) {
      const EncodingInfo& info = entry->info;
      table.add({info.name, info.formula, info.paper, info.learned, info.translation_invariant ? "yes" : "no"});
    }
    std::cout << table.to_string();
  });
}

}  // namespace lengthwise
