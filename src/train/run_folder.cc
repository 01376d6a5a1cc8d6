#include "train/run_folder.h"

#include <torch/version.h>

#include <algorithm>
#include <array>

#include "core/error.h"
#include "core/files.h"
#include "core/json.h"
#include "core/text.h"
#include "core/version.h"
#include "model/architectures.h"
#include "positional/named.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kFormatVersion = 1;
constexpr const char* kFingerprint = "data_fingerprint";
constexpr const char* kTrained = "trained";

Json options_of(const TrainConfig& config) {
  Json options = Json::object();
  add_to_json(config, options);
  return options;
}

/// What is in config.json, known to be of a version that is understood here.
Json read_config_json(const fs::path& path) {
  Json json = parse_json(read_file(path), shown(path));
  if (!json.is_object() || !json.contains("options") || !json["options"].is_object()) {
    fail("{} is damaged: it is not the config.json of a run", shown(path));
  }
  check_seal(json, shown(path));
  const JsonObject config(json, shown(path));
  const std::string writer = "lengthwise " + excerpt(config.find_text("lengthwise").value_or("of another version"));
  if (const int64_t version = config.find_whole("version").value_or(kFormatVersion); version != kFormatVersion) {
    throw NewerRun(fmt::format("{} has the format version {}, written by {}; this is lengthwise {}, which reads {}",
                               shown(path), version, writer, kVersion, kFormatVersion));
  }
  const Json known = options_of({});
  for (const auto& [option, value] : json["options"].items()) {
    if (known.contains(option)) continue;
    throw NewerRun(fmt::format("{} has the option '{}', which lengthwise {} does not know; {} wrote it", shown(path),
                               excerpt(option), kVersion, writer));
  }
  return json;
}

/// Files another run, or another program, would have left.
bool holds_foreign_files(const fs::path& path) {
  const std::vector<fs::path> entries = list_folder(path);
  return std::any_of(entries.begin(), entries.end(),
                     [](const fs::path& entry) { return entry.filename() != ".lock" && !is_part_file(entry); });
}

/// Whether anything came of the run so far: a refused one leaves nothing but its configuration.
bool has_begun(const fs::path& path) {
  constexpr std::array kDone = {"metrics.jsonl", "state.safetensors", "best.safetensors", "last.safetensors",
                                "summary.json"};
  return std::any_of(kDone.begin(), kDone.end(), [&](const char* name) { return is_there(path / name); });
}

/// As the user would write it.
std::string value_text(const std::string& option, const Json& value) {
  return option == "data-version" && value.is_null() ? "1" : json_text(value);
}

/// What else somebody may want whose configuration is not that of the run in a folder.
std::string other_way(const fs::path& run, const TrainConfig& config, const std::string& difference) {
  if (difference.starts_with("--steps ")) {
    return fmt::format(", with --start-from {} to go on from its weights", shown(run));
  }
  const std::optional<int64_t> version = data_version_to_go_on(run, config);
  return version ? fmt::format(", or go on with it by --data-version {}", *version) : "";
}

/// Of the longest sequence of training, and of what a prompt left room for.
void read_trained(const Json& json, const std::string& where, ModelConfig& model) {
  if (!json.contains(kTrained)) return;
  const JsonObject trained = JsonObject(json, where).object(kTrained);
  model.trained_length = trained.find_whole("tokens", 0).value_or(0);
  model.trained_room = trained.find_whole("room", 0).value_or(0);
}

std::string sealed_text(Json json) {
  seal(json);
  return json_text(json, 2) + "\n";
}

/// How charts call the encoding, or a recurrent network: a note for those who read the run without knowing encodings.
void describe(const TrainConfig& config, Json& json) {
  try {
    ModelConfig folded = config.model;
    fold_encoding(folded);
    if (!folded.is_decoder()) {
      json["encoding_label"] = find_architecture(folded.architecture).label;
      json["encoding_family"] = "recurrent";
      return;
    }
    const EncodingInfo info = describe_encoding(read_encoding(folded.encoding));
    json["encoding_label"] = info.label;
    json["encoding_family"] = info.family;
  } catch (const UserError&) {
    // Whoever makes the model says what is wrong.
  }
}

}  // namespace

std::string run_config_json(const TrainConfig& config) {
  Json json = {
      {"format", "lengthwise-run"}, {"version", kFormatVersion}, {"lengthwise", kVersion}, {"torch", TORCH_VERSION}};
  describe(config, json);
  json["options"] = options_of(config);
  return sealed_text(std::move(json));
}

bool weights_were_dropped(const fs::path& run) {
  return is_there(run / "summary.json") && !is_there(run / "best.safetensors");
}

TrainConfig read_run_config(const fs::path& run) {
  const fs::path path = run / "config.json";
  if (!is_there(path)) fail("{} is not the folder of a run: it has no config.json", shown(run));
  TrainConfig config;
  const Json json = read_config_json(path);
  read_json(json["options"], shown(path), config);
  read_trained(json, shown(path), config.model);
  try {
    fold_encoding(config.model);  // older runs have its options beside it
  } catch (const UserError&) {
    // Whoever makes the model says what is wrong.
  }
  return config;
}

std::string difference_to_saved(const fs::path& run, const TrainConfig& config) {
  const Json saved = options_of(read_run_config(run));
  TrainConfig folded = config;
  fold_encoding(folded.model);
  const Json wanted = options_of(folded);
  const bool any_start = !config.start_from.empty() && config.start_checksum.empty();
  for (const auto& [option, value] : wanted.items()) {
    if (!decides_result(option) || (any_start && option == "start-checksum")) continue;
    const Json& there = saved[option];
    if (there == value) continue;
    return fmt::format("--{} is {} there and {} here", option, value_text(option, there), value_text(option, value));
  }
  return "";
}

std::optional<int64_t> data_version_to_go_on(const fs::path& run, TrainConfig config) {
  try {
    const std::optional<int64_t> saved = read_run_config(run).data.data_version;
    if (std::exchange(config.data.data_version, saved) == saved || !difference_to_saved(run, config).empty()) return {};
    return saved.value_or(1);
  } catch (const UserError&) {
    return {};
  }
}

RunFolder RunFolder::open(const fs::path& path, const TrainConfig& config) {
  if (is_there(path) && !is_folder(path)) fail("{} is a file; --out names a folder", shown(path));
  make_folder(path);
  std::optional<FolderLock> lock = FolderLock::try_lock(path);
  if (!lock) throw RunBusy(fmt::format("another process is training in {}", shown(path)));
  if (is_there(path / "config.json")) {
    const std::string difference = difference_to_saved(path, config);
    if (!difference.empty()) {
      if (has_begun(path)) {
        fail("{} holds a run with another configuration ({}); choose another --out{}", shown(path), difference,
             other_way(path, config, difference));
      }
      write_file(path / "config.json", run_config_json(config));
    }
  } else {
    if (holds_foreign_files(path)) fail("{} is not empty and holds no run; choose another --out", shown(path));
    write_file(path / "config.json", run_config_json(config));
  }
  clear_leftovers(path);
  return {path, std::move(*lock)};
}

void RunFolder::keep_trained(const ModelConfig& model) const {
  if (has_state() || finished() || model.trained_length == 0) return;
  Json json = read_config_json(file("config.json"));
  const Json trained = {{"tokens", model.trained_length}, {"room", model.trained_room}};
  if (json.contains(kTrained) && json[kTrained] == trained) return;
  json[kTrained] = trained;
  write_file(file("config.json"), sealed_text(std::move(json)));
}

void adopt_trained(const fs::path& run, ModelConfig& model) {
  if (!is_there(run / "state.safetensors") && !is_there(run / "summary.json")) return;
  if (!is_there(run / "config.json")) return;
  const ModelConfig saved = read_run_config(run).model;
  model.trained_length = saved.trained_length;
  model.trained_room = saved.trained_room;
}

void RunFolder::keep_data(const std::string& fingerprint) const {
  Json json = read_config_json(file("config.json"));
  const std::optional<std::string> known = JsonObject(json, shown(file("config.json"))).find_text(kFingerprint);
  if (has_state() || finished()) {
    if (!known || *known == fingerprint) return;
    fail(
        "the data of {} have changed since it was begun (fingerprint {} then, {} now); put them back, or choose "
        "another --out",
        shown(path_), excerpt(*known), fingerprint);
  }
  if (known == fingerprint) return;
  json[kFingerprint] = fingerprint;
  write_file(file("config.json"), sealed_text(std::move(json)));
}

}  // namespace lengthwise
