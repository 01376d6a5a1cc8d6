#include "results/run_files.h"

#include "core/checksum.h"
#include "core/error.h"
#include "core/files.h"

namespace lengthwise {

bool RunFiles::has(const char* name) const {
  return is_there(folder_ / name);
}

std::optional<std::string> RunFiles::checksum(const char* name) const {
  const JsonObject summary(summary_, "summary.json");
  return summary.has("files") ? summary.object("files").find_text(name) : std::nullopt;
}

std::string RunFiles::read(const char* name) const {
  std::string text = read_file(folder_ / name);
  const std::optional<std::string> written = checksum(name);
  if (written && *written != checksum_of(text)) {
    fail("{} is damaged: its checksum is not the one in summary.json", name);
  }
  return text;
}

Json RunFiles::read_json(const char* name) const {
  Json json = parse_json(read(name), name);
  check_seal(json, name);
  return json;
}

JsonObject RunFiles::read_summary() {
  Json json = read_json("summary.json");
  if (JsonObject(json, "summary.json").find_text("format") != "lengthwise-summary") {
    fail("summary.json is damaged: it is not the summary of a run");
  }
  summary_ = std::move(json);
  return {summary_, "summary.json"};
}

}  // namespace lengthwise
