#include "train/run_folder.h"

#include <torch/version.h>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files.h"
#include "core/version.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Json options_of(const TrainConfig& config) {
  Json options = Json::object();
  add_to_json(config, options);
  return options;
}

Json read_config_json(const fs::path& path) {
  const Json json = Json::parse(read_file(path), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("options") || !json["options"].is_object()) {
    fail("{} is damaged: it is not the config.json of a run", path.string());
  }
  return json;
}

bool is_leftover(const fs::path& path) {
  return path.extension() == ".part";
}

/// Files another run, or another program, would have left.
bool holds_foreign_files(const fs::path& path) {
  for (const fs::directory_entry& entry : fs::directory_iterator(path)) {
    if (entry.path().filename() != ".lock" && !is_leftover(entry.path())) return true;
  }
  return false;
}

void remove_leftovers(const fs::path& path) {
  for (const fs::directory_entry& entry : fs::directory_iterator(path)) {
    if (is_leftover(entry.path())) fs::remove(entry.path());
  }
}

}  // namespace

std::string run_config_json(const TrainConfig& config) {
  Json json = {{"format", "lengthwise-run"}, {"version", 1}, {"lengthwise", kVersion}, {"torch", TORCH_VERSION}};
  json["options"] = options_of(config);
  return json.dump(2) + "\n";
}

bool weights_were_dropped(const fs::path& run) {
  return fs::exists(run / "summary.json") && !fs::exists(run / "best.safetensors");
}

TrainConfig read_run_config(const fs::path& run) {
  const fs::path path = run / "config.json";
  if (!fs::exists(path)) fail("{} is not the folder of a run: it has no config.json", run.string());
  TrainConfig config;
  read_json(read_config_json(path)["options"], path.string(), config);
  return config;
}

std::string difference_to_saved(const fs::path& run, const TrainConfig& config) {
  const Json saved = read_config_json(run / "config.json")["options"];
  const Json defaults = options_of({});
  const Json wanted = options_of(config);
  for (const auto& [option, value] : wanted.items()) {
    if (!decides_result(option)) continue;
    const Json& there = saved.contains(option) ? saved[option] : defaults[option];
    if (there != value) return fmt::format("--{} is {} there and {} here", option, there.dump(), value.dump());
  }
  return "";
}

RunFolder RunFolder::open(const fs::path& path, const TrainConfig& config) {
  if (fs::exists(path) && !fs::is_directory(path)) fail("{} is a file; --out names a folder", path.string());
  make_folder(path);
  std::optional<FolderLock> lock = FolderLock::try_lock(path);
  if (!lock) throw RunBusy(fmt::format("another process is training in {}", path.string()));
  if (fs::exists(path / "config.json")) {
    const std::string difference = difference_to_saved(path, config);
    if (!difference.empty()) {
      fail("{} holds a run with another configuration ({}); choose another --out", path.string(), difference);
    }
  } else {
    if (holds_foreign_files(path)) fail("{} is not empty and holds no run; choose another --out", path.string());
    write_file(path / "config.json", run_config_json(config));
  }
  remove_leftovers(path);
  return {path, std::move(*lock)};
}

}  // namespace lengthwise
