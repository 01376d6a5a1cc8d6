#include "train/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <torch/version.h>
#include <unistd.h>

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

/// The number of threads changes speed, not the run.
bool decides_result(const std::string& option) {
  return option != "threads";
}

/// Files another run, or another program, would have left; leftovers of a writer that died do not count.
bool holds_foreign_files(const fs::path& path) {
  for (const fs::directory_entry& entry : fs::directory_iterator(path)) {
    const std::string name = entry.path().filename().string();
    if (name != ".lock" && !name.ends_with(".part")) return true;
  }
  return false;
}

void check_same(const fs::path& path, const TrainConfig& config) {
  const Json saved = read_config_json(path / "config.json")["options"];
  const Json wanted = options_of(config);
  for (const auto& [option, value] : wanted.items()) {
    if (!decides_result(option)) continue;
    if (!saved.contains(option) || saved[option] != value) {
      fail("{} holds a run with another configuration (--{} is {} there and {} here); choose another --out",
           path.string(), option, saved.contains(option) ? saved[option].dump() : "missing", value.dump());
    }
  }
}

}  // namespace

std::string run_config_json(const TrainConfig& config) {
  Json json = {{"format", "lengthwise-run"}, {"version", 1}, {"lengthwise", kVersion}, {"torch", TORCH_VERSION}};
  json["options"] = options_of(config);
  return json.dump(2) + "\n";
}

TrainConfig read_run_config(const fs::path& run) {
  const fs::path path = run / "config.json";
  if (!fs::exists(path)) fail("{} is not the folder of a run: it has no config.json", run.string());
  TrainConfig config;
  read_json(read_config_json(path)["options"], path.string(), config);
  return config;
}

RunFolder RunFolder::open(const fs::path& path, const TrainConfig& config) {
  if (fs::exists(path) && !fs::is_directory(path)) fail("{} is a file; --out names a folder", path.string());
  make_folder(path);
  const fs::path lock_path = path / ".lock";
  const int lock = ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lock < 0) fail("cannot write in {}", path.string());
  RunFolder folder(path, lock);
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0) fail("another process is training in {}", path.string());
  if (fs::exists(path / "config.json")) {
    check_same(path, config);
  } else {
    if (holds_foreign_files(path)) fail("{} is not empty and holds no run; choose another --out", path.string());
    write_file(path / "config.json", run_config_json(config));
  }
  return folder;
}

RunFolder::RunFolder(RunFolder&& other) noexcept : path_(std::move(other.path_)), lock_(other.lock_) {
  other.lock_ = -1;
}

RunFolder::~RunFolder() {
  if (lock_ >= 0) ::close(lock_);
}

}  // namespace lengthwise
