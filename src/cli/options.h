#pragma once
/// A visited configuration (core/config.h) as command-line options and as a file.
///
///     DataConfig config;
///     add_options(command, config);      // --task NAME, --train-lengths LOW:HIGH, --dedup and --no-dedup ...
///     add_config_file(command, config);  // --config FILE.toml with the same names
///
/// The file is read first wherever it stands on the command line, so an option always overrides it. Of an option given
/// twice the last counts; of two files the second overrides the first. A command with several configurations puts them
/// into one struct whose `visit` calls theirs, so that one file holds them all. The configuration must outlive the
/// app's parsing.
#include <CLI/App.hpp>
#include <filesystem>
#include <functional>
#include <string>
#include <type_traits>

#include "core/config.h"

namespace lengthwise {

namespace options_detail {

/// What stands for the value in the help text.
template <class T>
constexpr const char* value_label() {
  if constexpr (std::is_same_v<T, int64_t>) return "N";
  if constexpr (std::is_same_v<T, double>) return "X";
  if constexpr (std::is_same_v<T, std::string>) return "TEXT";
  if constexpr (std::is_same_v<T, LengthRange>) return "LOW:HIGH";
  return "NAME";
}

/// `--name LABEL`; `assign` may throw UserError, to which the option's name is added.
void add_value(CLI::App& app, const std::string& name, const std::string& label, const std::string& help,
               const std::string& initial, std::function<void(const std::string&)> assign);

/// `--name` and `--no-name`.
void add_switch(CLI::App& app, const std::string& name, const std::string& help, bool initial,
                std::function<void(bool)> assign);

void add_file(CLI::App& app, std::function<void(const std::filesystem::path&)> read);

}  // namespace options_detail

template <class Config>
void add_options(CLI::App& app, Config& config) {
  config.visit([&](const char* name, auto& value, const char* help) {
    using T = typename config_detail::Unwrapped<std::decay_t<decltype(value)>>::type;
    if constexpr (std::is_same_v<T, bool>) {
      options_detail::add_switch(app, name, help, to_text(value) == "true", [&value](bool given) { value = given; });
    } else {
      options_detail::add_value(app, name, options_detail::value_label<T>(), help, to_text(value),
                                [&value](const std::string& text) { from_text(text, value); });
    }
  });
}

template <class Config>
void add_config_file(CLI::App& app, Config& config) {
  options_detail::add_file(app, [&config](const std::filesystem::path& path) { read_toml(path, config); });
}

}  // namespace lengthwise
