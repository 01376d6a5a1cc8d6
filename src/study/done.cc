#include "study/done.h"

#include <nlohmann/json.hpp>

#include "core/files.h"
#include "study/forecast.h"
#include "study/study_folder.h"
#include "train/run_folder.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;

uint64_t bytes_in(const fs::path& folder) {
  uint64_t bytes = 0;
  for (const char* name : {"best.safetensors", "last.safetensors", "state.safetensors"}) {
    std::error_code error;
    const uintmax_t size = fs::file_size(folder / name, error);
    if (!error) bytes += size;
  }
  return bytes;
}

}  // namespace

std::optional<RunAccuracy> read_accuracy(const fs::path& run) {
  if (!fs::exists(run / "summary.json")) return std::nullopt;
  const auto json = nlohmann::json::parse(read_file(run / "summary.json"), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return std::nullopt;
  RunAccuracy accuracy;
  const auto longer = json.find("out_of_distribution");
  accuracy.in_distribution = json.value("in_distribution", 0.0);
  if (longer != json.end() && longer->is_number()) accuracy.out_of_distribution = longer->get<double>();
  return accuracy;
}

bool is_finished(const fs::path& study, const StudyRun& run) {
  const fs::path path = run_path(study, run);
  return fs::exists(path / "summary.json") && fs::exists(path / "config.json") &&
         difference_to_saved(path, run.config).empty();
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
