#include "eval/recorded_files.h"

#include <algorithm>

#include "core/checksum.h"
#include "core/error.h"
#include "core/files.h"
#include "core/text.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRecorded[] = {"config.json",    "vocabulary.json",  "metrics.jsonl",   "eval.jsonl",
                                     "examples.jsonl", "best.safetensors", "last.safetensors"};
/// Only where a run was asked for it.
constexpr const char* kReadings = "readings.jsonl";

}  // namespace

Json record_files(const fs::path& run) {
  Json files = Json::object();
  for (const char* name : kRecorded) files[name] = checksum_of(read_file(run / name));
  if (is_there(run / kReadings)) files[kReadings] = checksum_of(read_file(run / kReadings));
  return files;
}

Json read_summary(const fs::path& run) {
  const fs::path path = run / "summary.json";
  Json summary = parse_json(read_file(path), shown(path));
  if (!summary.is_object() || !summary.contains("format") || summary["format"] != "lengthwise-summary")
    fail("{} is damaged: it is not the summary.json of a run", shown(path));
  check_seal(summary, shown(path));
  return summary;
}

void check_recorded_files(const fs::path& run, const std::vector<std::string>& names) {
  if (!is_there(run / "summary.json")) return;
  const Json summary = read_summary(run);
  if (!summary.contains("files") || !summary["files"].is_object()) return;
  for (const auto& [name, recorded] : summary["files"].items()) {
    if (name != kReadings && std::find(std::begin(kRecorded), std::end(kRecorded), name) == std::end(kRecorded))
      continue;
    if (!names.empty() && std::find(names.begin(), names.end(), name) == names.end()) continue;
    // Results stand without the weights they were made with, which take the room.
    if (names.empty() && name.ends_with(".safetensors") && !is_there(run / name)) continue;
    const std::string found = checksum_of(read_file(run / name));
    if (recorded == found) continue;
    fail("{} is not the file that the finished run wrote: its checksum is {}, and summary.json says {}",
         shown(run / name), found, excerpt(json_text(recorded)));
  }
}

}  // namespace lengthwise
