#include "core/config.h"

#include <charconv>
#include <cmath>

#include "core/error.h"
#include "core/files.h"
#include "core/json.h"
#include "core/text.h"
#include "core/toml.h"

namespace lengthwise {

std::string to_text(bool value) {
  return value ? "true" : "false";
}
std::string to_text(int64_t value) {
  return fmt::format("{}", value);
}
std::string to_text(double value) {
  return fmt::format("{}", value);
}
std::string to_text(const std::string& value) {
  return value;
}

void from_text(std::string_view text, bool& value) {
  if (text == "true" || text == "yes" || text == "on" || text == "1") {
    value = true;
  } else if (text == "false" || text == "no" || text == "off" || text == "0") {
    value = false;
  } else {
    fail("'{}' is neither true nor false", excerpt(text));
  }
}

void from_text(std::string_view text, int64_t& value) {
  int64_t parsed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
  if (error != std::errc() || end != text.data() + text.size()) fail("'{}' is not a whole number", excerpt(text));
  value = parsed;
}

void from_text(std::string_view text, double& value) {
  double parsed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(parsed)) {
    fail("'{}' is not a number", excerpt(text));
  }
  value = parsed;
}

void from_text(std::string_view text, std::string& value) {
  value = text;
}

namespace config_detail {

void set_json(nlohmann::ordered_json& object, const std::string& name, const std::string& text, bool bare,
              bool present) {
  if (!present) {
    object[name] = nullptr;
  } else if (bare) {
    object[name] = parse_json(text, name);
  } else {
    object[name] = text;
  }
}

namespace {

void flatten(const toml::table& table, const std::string& file, std::vector<Entry>& entries) {
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    if (const toml::table* inner = node.as_table()) {
      flatten(*inner, file, entries);
    } else if (const auto text = node.value_exact<std::string>()) {
      entries.push_back({name, *text});
    } else if (const auto whole = node.value_exact<int64_t>()) {
      entries.push_back({name, to_text(*whole)});
    } else if (const auto number = node.value_exact<double>()) {
      entries.push_back({name, to_text(*number)});
    } else if (const auto flag = node.value_exact<bool>()) {
      entries.push_back({name, to_text(*flag)});
    } else {
      fail("{}:{}: '{}' must be one string, number or truth value", file, node.source().begin.line, name);
    }
  }
}

}  // namespace

std::vector<Entry> read_toml(const std::filesystem::path& path) {
  std::vector<Entry> entries;
  flatten(read_toml_file(path), shown(path), entries);
  return entries;
}

std::vector<Entry> read_json(const nlohmann::ordered_json& object) {
  std::vector<Entry> entries;
  for (const auto& [key, value] : object.items()) {
    if (value.is_null()) continue;
    entries.push_back({key, value.is_string() ? value.get_ref<const std::string&>() : json_text(value)});
  }
  return entries;
}

void unknown_key(const std::string& where, const std::string& key, const std::vector<std::string>& known) {
  fail("{}: there is no option '{}'{}", where, key, did_you_mean(key, known));
}

void bad_value(const std::string& where, const std::string& key, const std::string& reason) {
  fail("{}: {}: {}", where, key, reason);
}

}  // namespace config_detail
}  // namespace lengthwise
