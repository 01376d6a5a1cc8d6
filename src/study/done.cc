#include "study/done.h"

#include "core/error.h"
#include "core/files.h"
#include "core/json.h"
#include "study/forecast.h"
#include "study/study_folder.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;

uint64_t bytes_in(const fs::path& folder) {
  uint64_t bytes = 0;
  for (const char* name : {"best.safetensors", "last.safetensors", "state.safetensors"}) {
    if (is_file(folder / name)) bytes += static_cast<uint64_t>(file_bytes(folder / name));
  }
  return bytes;
}

/// Earlier versions wrote no checksums.
Json read_summary(const fs::path& run) {
  const fs::path path = run / "summary.json";
  Json summary = parse_json(read_file(path), shown(path));
  if (JsonObject(summary, shown(path)).find_text("format") != "lengthwise-summary")
    fail("{} is not the summary of a run", shown(path));
  check_seal(summary, shown(path));
  return summary;
}

}  // namespace

RunAccuracy read_accuracy(const fs::path& run) {
  try {
    const Json summary = read_summary(run);
    const JsonObject object(summary, "summary.json");
    return {object.find_number("in_distribution"), object.find_number("out_of_distribution")};
  } catch (const UserError&) {
    return {};
  }
}

std::string damage_of(const fs::path& run) {
  try {
    read_summary(run);
    read_file(run / "eval.jsonl");
  } catch (const UserError& error) {
    return fmt::format("damaged: {}; move its folder away to do it again", error.what());
  }
  return "";
}

bool is_finished(const fs::path& study, const StudyRun& run) {
  const fs::path path = run_path(study, run);
  return is_there(path / "summary.json") && is_there(path / "config.json") &&
         difference_or_damage(path, run.config).empty() && damage_of(path).empty();
}

uint64_t bytes_to_come(const fs::path& study, const StudyPlan& plan, int64_t jobs, Keep keep) {
  uint64_t bytes = 0;
  uint64_t largest = 0;
  for (const StudyRun& run : plan.runs) {
    if (!run.selected || is_finished(study, run)) continue;
    const uint64_t whole = disk_bytes(run.config, keep);
    largest = std::max(largest, disk_bytes(run.config));
    bytes += whole - std::min(whole, bytes_in(run_path(study, run)));
  }
  return bytes + largest * static_cast<uint64_t>(keep == Keep::all ? jobs : 2 * jobs);
}

}  // namespace lengthwise
