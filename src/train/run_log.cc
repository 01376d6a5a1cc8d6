#include "train/run_log.h"

#include "core/checksum.h"
#include "core/error.h"
#include "core/files.h"
#include "core/json.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;

int64_t bytes_of(const fs::path& path) {
  return is_there(path) ? file_bytes(path) : 0;
}

void cut(const fs::path& path, int64_t bytes) {
  if (bytes_of(path) > bytes) shorten_file(path, bytes);
}

void append(const fs::path& path, const Json& line) {
  append_file(path, json_text(line) + "\n");
}

void check_metrics(const fs::path& path, const TrainState& state) {
  const int64_t bytes = bytes_of(path);
  if (bytes < state.metrics_bytes) {
    fail("{} was cut short: it has {} bytes, and {} belong to the {} steps that are done", shown(path), bytes,
         state.metrics_bytes, state.step);
  }
  if (state.metrics_checksum.empty()) return;
  const std::string text = bytes == 0 ? "" : read_file(path);
  if (checksum_of(std::string_view(text).substr(0, static_cast<size_t>(state.metrics_bytes))) != state.metrics_checksum)
    fail("{} was changed: it is not what the {} steps that are done wrote", shown(path), state.step);
}

/// The files as they were at the checkpoint, before anything is appended.
fs::path opened_metrics(const RunFolder& folder, const TrainState& state) {
  const fs::path path = folder.file("metrics.jsonl");
  check_metrics(path, state);
  cut(path, state.metrics_bytes);
  return path;
}

fs::path opened_events(const RunFolder& folder, const TrainState& state) {
  const fs::path path = folder.file("events.out.tfevents.lengthwise");
  cut(path, state.events_bytes);
  return path;
}

}  // namespace

RunLog::RunLog(const RunFolder& folder, const TrainState& state)
    : metrics_(opened_metrics(folder, state)), events_path_(opened_events(folder, state)), events_(folder.path()) {}

void RunLog::step(int64_t step, const StepMetrics& metrics) {
  append(metrics_,
         {{"step", step}, {"loss", metrics.loss}, {"lr", metrics.lr}, {"gradient_norm", metrics.gradient_norm}});
  events_.scalar("train/loss", step, metrics.loss);
  events_.scalar("train/lr", step, metrics.lr);
  events_.scalar("train/gradient_norm", step, metrics.gradient_norm);
}

void RunLog::validation(int64_t step, const std::vector<std::pair<std::string, SetScore>>& scores) {
  Json line{{"step", step}};
  for (const auto& [name, score] : scores) {
    line[name + "_loss"] = score.loss;
    line[name + "_exact_match"] = score.exact_match;
    events_.scalar(name + "/loss", step, score.loss);
    events_.scalar(name + "/exact_match", step, score.exact_match);
  }
  append(metrics_, line);
}

void RunLog::note(TrainState& state) const {
  state.metrics_bytes = bytes_of(metrics_);
  state.metrics_checksum = checksum_of(state.metrics_bytes == 0 ? "" : read_file(metrics_));
  state.events_bytes = bytes_of(events_path_);
}

}  // namespace lengthwise
