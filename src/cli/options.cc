#include "cli/options.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "core/error.h"

namespace lengthwise::options_detail {

void add_value(CLI::App& app, const std::string& name, const std::string& label, const std::string& help,
               const std::string& initial, std::function<void(const std::string&)> assign) {
  const std::string option = "--" + name;
  const std::function<void(const std::string&)> named = [option, assign = std::move(assign)](const std::string& text) {
    try {
      assign(text);
    } catch (const UserError& error) {
      fail("{}: {}", option, error.what());
    }
  };
  app.add_option_function(option, named, initial.empty() ? help : fmt::format("{} [{}]", help, initial))
      ->type_name(label);
}

void add_switch(CLI::App& app, const std::string& name, const std::string& help, bool initial,
                std::function<void(bool)> assign) {
  const std::function<void(std::int64_t)> given = [assign = std::move(assign)](std::int64_t sign) { assign(sign > 0); };
  app.add_flag_function(fmt::format("--{0},!--no-{0}", name), given, initial ? fmt::format("{} [on]", help) : help)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->disable_flag_override();
}

void add_file(CLI::App& app, std::function<void(const std::filesystem::path&)> read) {
  const std::function<void(const std::string&)> open = [read = std::move(read)](const std::string& path) {
    read(path);
  };
  // Triggered while the command line is still being read, and so before any other option takes effect.
  app.add_option_function("--config", open, "read options from a TOML file first")
      ->type_name("FILE")
      ->trigger_on_parse();
}

}  // namespace lengthwise::options_detail
