#pragma once
/// The keys and values of a TOML table as a study file needs them: in the order of the file, and as text.
#include <toml++/toml.h>

#include <string>
#include <vector>

namespace lengthwise {

/// A key and its value.
struct Item {
  std::string name;
  const toml::node* node;
  toml::source_position place;
};

/// In the order of the file, which toml++ does not keep.
std::vector<Item> items_of(const toml::table& table);

/// The text of one value; false for a list, a table or a date.
bool scalar_text(const toml::node& node, std::string& text);

}  // namespace lengthwise
