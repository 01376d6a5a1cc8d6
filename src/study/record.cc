#include "study/record.h"

#include <cmath>

#include "core/error.h"
#include "core/files.h"
#include "core/json.h"
#include "results/metrics_file.h"

namespace lengthwise {
namespace {

constexpr RecordState kStates[] = {RecordState::waiting, RecordState::running, RecordState::finished,
                                   RecordState::failed};

RunRecord read_record(const JsonObject& object) {
  RunRecord record;
  const std::string state = object.find_text("state").value_or("");
  for (const RecordState candidate : kStates) {
    if (to_text(candidate) == state) record.state = candidate;
  }
  record.step = object.find_whole("step").value_or(0);
  record.steps = object.find_whole("steps").value_or(0);
  record.seconds = object.find_number("seconds").value_or(0);
  record.machine_seconds = object.find_number("machine_seconds").value_or(record.seconds);
  record.reason = object.find_text("reason").value_or("");
  record.best_accuracy = object.find_number("best_accuracy");
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
  if (!plan.tune.empty()) json["tune"] = plan.tune;
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
  seal(json);
  return json_text(json, 1) + "\n";
}

std::map<std::string, RunRecord> read_study_json(const std::filesystem::path& path) {
  std::map<std::string, RunRecord> records;
  if (!is_there(path)) return records;
  // It only repeats what the run folders say, apart from times and reasons: a damaged one is no reason to stop.
  try {
    const Json json = parse_json(read_file(path), shown(path));
    const JsonObject study(json, shown(path));
    for (const Json& run : study.array("runs")) {
      const JsonObject object(run, shown(path));
      records[object.text("name")] = read_record(object);
    }
  } catch (const UserError&) {
    records.clear();
  }
  return records;
}

std::optional<std::string> read_study_name(const std::filesystem::path& path) {
  try {
    const Json json = parse_json(read_file(path), shown(path));
    return JsonObject(json, shown(path)).find_text("name");
  } catch (const UserError&) {
    return std::nullopt;
  }
}

void read_metrics(const std::filesystem::path& run, RunRecord& record) {
  if (!is_there(run / "metrics.jsonl")) return;
  const Metrics metrics = growing_metrics(read_file(run / "metrics.jsonl"));
  if (metrics.last_step > 0) record.step = metrics.last_step;
  if (metrics.best) record.best_accuracy = std::max(record.best_accuracy.value_or(0), *metrics.best);
}

}  // namespace lengthwise
