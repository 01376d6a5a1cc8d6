#pragma once
/// What tables for documents are made of.
#include <string>
#include <vector>

#include "results/stored_run.h"

namespace lengthwise {

/// A text that is neither a cell's end nor a tag.
std::string markdown_cell(const std::string& text);

std::string markdown_row(const std::vector<std::string>& cells);

/// The heading of a table; the first `texts` columns are texts, the others numbers.
std::string markdown_heading(const std::vector<std::string>& names, size_t texts);

/// `, on MACHINE, commit COMMIT`, as far as the runs say it.
std::string made_where(const std::vector<const StoredRun*>& runs);

}  // namespace lengthwise
