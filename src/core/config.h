#pragma once
/// A configuration is a struct that is visited once.
///
///     struct DataConfig {
///       std::string task = "copy";
///       std::optional<int64_t> train_count;
///       template <class Visitor> void visit(Visitor&& field) {
///         field("task", task, "what to learn; `lengthwise tasks` lists them");
///         field("train-count", train_count, "training examples");
///       }
///     };
///
/// Every other use follows from `visit`: command-line options (cli/options.h), TOML files and JSON dumps (below). The
/// name of a field is the name of its option, of its TOML key and of its JSON key.
///
/// A field's type is bool, int64_t, double, std::string, std::optional of those, or any type with `to_text` and
/// `from_text` found by argument-dependent lookup (LengthRange, Wording, Scratchpad).
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/files.h"
#include "core/length_range.h"

namespace lengthwise {

std::string to_text(bool value);
std::string to_text(int64_t value);
/// The shortest text that reads back as the same number.
std::string to_text(double value);
std::string to_text(const std::string& value);

/// Each throws UserError with what was expected. Numbers must be the whole text; `1_000` and `1e3` are not integers.
void from_text(std::string_view text, bool& value);
void from_text(std::string_view text, int64_t& value);
void from_text(std::string_view text, double& value);
void from_text(std::string_view text, std::string& value);

template <class T>
std::string to_text(const std::optional<T>& value) {
  return value ? to_text(*value) : std::string();
}
template <class T>
void from_text(std::string_view text, std::optional<T>& value) {
  T parsed{};
  from_text(text, parsed);
  value = parsed;
}

namespace config_detail {

template <class T>
struct Unwrapped {
  using type = T;
};
template <class T>
struct Unwrapped<std::optional<T>> {
  using type = T;
};

/// What a JSON value of this field is: written bare when its text is a JSON literal, otherwise quoted.
template <class T>
inline constexpr bool is_bare =
    std::is_same_v<typename Unwrapped<T>::type, bool> || std::is_same_v<typename Unwrapped<T>::type, int64_t> ||
    std::is_same_v<typename Unwrapped<T>::type, double>;

struct Entry {
  std::string name;
  std::string text;
};

void set_json(nlohmann::ordered_json& object, const std::string& name, const std::string& text, bool bare,
              bool present);

/// The scalar values of a TOML file, flattened: a table [a] with key b is "b" (tables only group). Arrays are refused.
std::vector<Entry> read_toml(const std::filesystem::path& path);
/// The scalar values of a JSON object, null left out.
std::vector<Entry> read_json(const nlohmann::ordered_json& object);

[[noreturn]] void unknown_key(const std::string& where, const std::string& key, const std::vector<std::string>& known);
[[noreturn]] void bad_value(const std::string& where, const std::string& key, const std::string& reason);

template <class Config>
void apply(Config& config, const std::string& where, const std::vector<Entry>& entries) {
  std::vector<std::string> known;
  config.visit([&](const char* name, auto&, const char*) { known.emplace_back(name); });
  for (const Entry& entry : entries) {
    bool found = false;
    config.visit([&](const char* name, auto& value, const char*) {
      if (entry.name != name) return;
      found = true;
      try {
        from_text(entry.text, value);
      } catch (const std::runtime_error& error) {
        bad_value(where, entry.name, error.what());
      }
    });
    if (!found) unknown_key(where, entry.name, known);
  }
}

}  // namespace config_detail

/// Adds every field of the configuration to a JSON object; an empty optional becomes null.
template <class Config>
void add_to_json(const Config& config, nlohmann::ordered_json& object) {
  // `visit` is not const because readers use it too; the visitor here only reads.
  const_cast<Config&>(config).visit([&](const char* name, const auto& value, const char*) {
    using T = std::decay_t<decltype(value)>;
    const std::string text = to_text(value);
    bool present = true;
    if constexpr (!std::is_same_v<T, typename config_detail::Unwrapped<T>::type>) present = value.has_value();
    config_detail::set_json(object, name, text, config_detail::is_bare<T>, present);
  });
}

/// Overwrites the fields named in a TOML file. Unknown keys and bad values are UserErrors that name the file and key.
template <class Config>
void read_toml(const std::filesystem::path& path, Config& config) {
  config_detail::apply(config, shown(path), config_detail::read_toml(path));
}

/// Overwrites the fields present in a JSON object; `where` names its origin in errors.
template <class Config>
void read_json(const nlohmann::ordered_json& object, const std::string& where, Config& config) {
  config_detail::apply(config, where, config_detail::read_json(object));
}

}  // namespace lengthwise
