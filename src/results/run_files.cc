#include "results/run_files.h"

#include "core/checksum.h"
#include "core/error.h"
#include "core/files.h"
#include "results/json_lines.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

void check_seal(const Json& summary) {
  const auto sealed = summary.find("checksum");
  if (sealed == summary.end()) return;
  Json rest = summary;
  rest.erase("checksum");
  const bool whole = sealed->is_string() && (sealed->get<std::string>() == checksum_of(rest.dump(2)) ||
                                             sealed->get<std::string>() == checksum_of(rest.dump()));
  if (!whole) fail("summary.json is damaged: its checksum is not that of what it says");
}

}  // namespace

bool RunFiles::has(const char* name) const {
  std::error_code unknown;
  return fs::exists(folder_ / name, unknown);
}

bool RunFiles::vouched(const char* name) const {
  const auto files = summary_.find("files");
  return files != summary_.end() && files->is_object() && files->contains(name);
}

std::string RunFiles::read(const char* name) const {
  std::string text = read_file(folder_ / name);
  if (vouched(name) && summary_["files"][name] != checksum_of(text)) {
    fail("{} is damaged: its checksum is not the one in summary.json", name);
  }
  return text;
}

const Json& RunFiles::read_summary() {
  Json summary = parse_object(read_file(folder_ / "summary.json"), "summary.json");
  if (!summary.contains("format") || summary["format"] != "lengthwise-summary") {
    fail("summary.json is damaged: it is not the summary of a run");
  }
  check_seal(summary);
  summary_ = std::move(summary);
  return summary_;
}

}  // namespace lengthwise
