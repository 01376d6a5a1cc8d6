#include "study/results.h"

#include <map>
#include <nlohmann/json.hpp>

#include "core/files.h"
#include "study/forecast.h"
#include "study/study_folder.h"
#include "train/run_folder.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;

/// As the study calls it, which tells two settings of one encoding apart.
std::string encoding_label(const StudyPlan& plan, const StudyRun& run) {
  for (size_t axis = 0; axis < plan.axes.size(); ++axis) {
    if (plan.axes[axis] == "encoding") return run.labels[axis];
  }
  return run.config.model.encoding;
}

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

std::optional<RunResult> read_result(const fs::path& run) {
  if (!fs::exists(run / "summary.json")) return std::nullopt;
  const auto json = nlohmann::json::parse(read_file(run / "summary.json"), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return std::nullopt;
  return RunResult{json.value("in_distribution", 0.0), json.value("out_of_distribution", 0.0)};
}

bool is_finished(const fs::path& study, const StudyRun& run) {
  const fs::path path = run_path(study, run);
  return fs::exists(path / "summary.json") && fs::exists(path / "config.json") &&
         difference_to_saved(path, run.config).empty();
}

std::vector<StudyRow> study_rows(const fs::path& study, const StudyPlan& plan) {
  std::vector<StudyRow> rows;
  std::map<std::pair<std::string, std::string>, size_t> places;
  for (const StudyRun& run : plan.runs) {
    const std::optional<RunResult> result = read_result(run_path(study, run));
    if (!result) continue;
    const std::pair key{plan.split_of(run), encoding_label(plan, run)};
    const auto [found, fresh] = places.try_emplace(key, rows.size());
    if (fresh) rows.push_back({key.first, key.second, 0, {}});
    StudyRow& row = rows[found->second];
    ++row.seeds;
    row.mean.in_distribution += result->in_distribution;
    row.mean.out_of_distribution += result->out_of_distribution;
  }
  for (StudyRow& row : rows) {
    row.mean.in_distribution /= static_cast<double>(row.seeds);
    row.mean.out_of_distribution /= static_cast<double>(row.seeds);
  }
  return rows;
}

uint64_t bytes_to_come(const fs::path& study, const StudyPlan& plan, int64_t jobs) {
  uint64_t bytes = 0;
  uint64_t largest = 0;
  for (const StudyRun& run : plan.runs) {
    if (is_finished(study, run)) continue;
    const uint64_t whole = disk_bytes(run.config);
    largest = std::max(largest, whole);
    bytes += whole - std::min(whole, bytes_in(run_path(study, run)));
  }
  return bytes + largest * static_cast<uint64_t>(jobs);
}

}  // namespace lengthwise
