#include "study/record.h"

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files.h"
#include "results/metrics_file.h"

namespace lengthwise {
namespace {

using Json = nlohmann::ordered_json;

constexpr RecordState kStates[] = {RecordState::waiting, RecordState::running, RecordState::finished,
                                   RecordState::failed};

RunRecord read_record(const Json& object) {
  RunRecord record;
  const std::string state = object.value("state", "");
  for (const RecordState candidate : kStates) {
    if (to_text(candidate) == state) record.state = candidate;
  }
  record.step = object.value("step", int64_t{0});
  record.steps = object.value("steps", int64_t{0});
  record.seconds = object.value("seconds", 0.0);
  record.machine_seconds = object.value("machine_seconds", record.seconds);
  record.reason = object.value("reason", "");
  const auto best = object.find("best_accuracy");
  if (best != object.end() && best->is_number()) record.best_accuracy = best->get<double>();
  return record;
}

}  // namespace

std::string to_text(RecordState state) {
  switch (state) {
    case RecordState::waiting:
      return "waiting";
    case RecordState::running:
      return "running";
    case RecordState::finished:
      return "finished";
    case RecordState::failed:
      return "failed";
  }
  LENGTHWISE_CHECK(false, "no such state: {}", static_cast<int>(state));
}

std::string study_json(const StudyPlan& plan, const std::vector<RunRecord>& records) {
  Json json = {{"format", "lengthwise-study"}, {"version", 1}, {"name", plan.name}};
  if (!plan.title.empty()) json["title"] = plan.title;
  json["varies"] = plan.varying;
  json["runs"] = Json::array();
  for (size_t i = 0; i < plan.runs.size(); ++i) {
    const RunRecord& record = records[i];
    Json run = {{"name", plan.runs[i].name},
                {"folder", "runs/" + plan.runs[i].name},
                {"state", to_text(record.state)},
                {"step", record.step},
                {"steps", record.steps},
                {"best_accuracy", nullptr},
                {"seconds", std::round(record.seconds * 10) / 10},
                {"machine_seconds", std::round(record.machine_seconds * 10) / 10}};
    if (record.best_accuracy) run["best_accuracy"] = *record.best_accuracy;
    if (record.state == RecordState::failed) run["reason"] = record.reason;
    json["runs"].push_back(std::move(run));
  }
  return json.dump(1) + "\n";
}

std::map<std::string, RunRecord> read_study_json(const std::filesystem::path& path) {
  std::map<std::string, RunRecord> records;
  if (!std::filesystem::exists(path)) return records;
  // It only repeats what the run folders say, apart from times and reasons: a damaged one is no reason to stop.
  try {
    const Json json = Json::parse(read_file(path));
    for (const Json& run : json.at("runs")) records[run.at("name").get<std::string>()] = read_record(run);
  } catch (const nlohmann::json::exception&) {
    records.clear();
  }
  return records;
}

std::optional<std::string> read_study_name(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return std::nullopt;
  const Json json = Json::parse(read_file(path), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("name") || !json["name"].is_string()) return std::nullopt;
  return json["name"].get<std::string>();
}

void read_metrics(const std::filesystem::path& run, RunRecord& record) {
  if (!is_there(run / "metrics.jsonl")) return;
  const Metrics metrics = growing_metrics(read_file(run / "metrics.jsonl"));
  if (metrics.last_step > 0) record.step = metrics.last_step;
  if (metrics.best) record.best_accuracy = std::max(record.best_accuracy.value_or(0), *metrics.best);
}

}  // namespace lengthwise
