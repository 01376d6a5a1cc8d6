#include "study/toml_items.h"

#include <algorithm>

#include "core/config.h"

namespace lengthwise {

std::vector<Item> items_of(const toml::table& table) {
  std::vector<Item> items;
  for (const auto& [key, node] : table) items.push_back({std::string(key.str()), &node, key.source().begin});
  std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) { return a.place < b.place; });
  return items;
}

bool scalar_text(const toml::node& node, std::string& text) {
  if (const auto string = node.value_exact<std::string>()) {
    text = *string;
  } else if (const auto whole = node.value_exact<int64_t>()) {
    text = to_text(*whole);
  } else if (const auto number = node.value_exact<double>()) {
    text = to_text(*number);
  } else if (const auto flag = node.value_exact<bool>()) {
    text = to_text(*flag);
  } else {
    return false;
  }
  return true;
}

}  // namespace lengthwise
