#include "results/read_run.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <tuple>

#include "core/error.h"
#include "core/files.h"
#include "core/length_range.h"
#include "tasks/registry.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Json read_object(const fs::path& path) {
  Json json = Json::parse(read_file(path), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) fail("{} is damaged: it is not a JSON object", path.filename().string());
  return json;
}

/// Calls `use` with each line. A line that is no JSON object, or lacks what `use` asks for, is an error unless the file
/// is still being written to, where it ends the reading.
void for_each_line(const fs::path& path, bool growing, const std::function<void(const Json&)>& use) {
  const std::string text = read_file(path);
  std::string_view left = text;
  for (int64_t number = 1; !left.empty(); ++number) {
    const std::string_view line = left.substr(0, left.find('\n'));
    left.remove_prefix(std::min(left.size(), line.size() + 1));
    const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    try {
      if (!json.is_object()) fail("it is not a JSON object");
      use(json);
    } catch (const std::exception& error) {
      if (growing) return;
      fail("{}:{}: {}", path.filename().string(), number, error.what());
    }
  }
}

void read_config(StoredRun& run) {
  const Json config = read_object(run.folder / "config.json");
  if (!config.contains("options") || !config["options"].is_object()) fail("config.json is damaged: it has no options");
  run.program = config.value("lengthwise", "");
  for (const auto& [key, value] : config["options"].items()) {
    run.options.emplace_back(key, value.is_null() ? "" : value.is_string() ? value.get<std::string>() : value.dump());
  }
  run.task = run.option("task");
  for (const auto& task : tasks()) {
    if (task->info().name != run.task && task->info().paper != run.task) continue;
    run.task = task->info().name;
    run.category = task->info().group;
    run.unit = task->info().unit;
  }
  if (run.task.empty()) {
    fs::path data(run.option("data"));
    if (!data.has_filename()) data = data.parent_path();
    run.task = data.filename().string();
  }
  if (run.task.empty()) fail("config.json is damaged: it names neither a task nor a folder of data");
  run.encoding = run.option("encoding");
  if (run.encoding.empty()) fail("config.json is damaged: it names no encoding");
  run.seed = run.option("seed");
  run.scratchpad = !run.option("scratchpad").empty() && run.option("scratchpad") != "none";
  if (!run.option("steps").empty()) run.steps = std::max<int64_t>(run.steps, config["options"]["steps"].get<int64_t>());
  if (!run.option("train-lengths").empty()) {
    LengthRange lengths;
    from_text(run.option("train-lengths"), lengths);
    run.train_limit = lengths.high;
  }
}

void read_evaluation(const std::string& weights, StoredRun& run) {
  for_each_line(run.folder / "eval.jsonl", false, [&](const Json& row) {
    if (row.at("selection").get<std::string>() != weights || !row.contains("length")) return;
    LengthResult result;
    const std::string split = row.at("split").get<std::string>();
    result.counts = {row.at("length").get<int64_t>(), split == "validation", row.at("count").get<int64_t>(),
                     row.at("correct").get<int64_t>()};
    const LengthCount& counts = result.counts;
    if (counts.count < 0 || counts.correct < 0 || counts.correct > counts.count) {
      fail("{} of {} cannot be right", counts.correct, counts.count);
    }
    result.low = row.at("low").get<double>();
    result.high = row.at("high").get<double>();
    result.loss = row.value("loss", 0.0);
    run.lengths.push_back(result);
  });
  std::sort(run.lengths.begin(), run.lengths.end(), [](const LengthResult& a, const LengthResult& b) {
    return std::tie(a.counts.length, b.counts.trained) < std::tie(b.counts.length, a.counts.trained);
  });
  if (run.train_limit) return;
  for (const LengthResult& row : run.lengths) {
    if (row.counts.trained) run.train_limit = row.counts.length;
  }
}

void read_summary(const std::string& weights, StoredRun& run) {
  const Json summary = read_object(run.folder / "summary.json");
  run.parameters = summary.value("parameters", int64_t{0});
  run.decoding = summary.value("decoding", "");
  if (summary.contains(weights) && summary[weights].is_object()) {
    run.weights_step = summary[weights].value("step", int64_t{0});
  }
}

void read_metrics(bool curves, StoredRun& run) {
  const fs::path path = run.folder / "metrics.jsonl";
  if (!fs::exists(path)) return;
  for_each_line(path, true, [&](const Json& row) {
    const int64_t step = row.at("step").get<int64_t>();
    run.step = std::max(run.step, step);
    if (!curves) return;
    if (row.contains("loss")) run.loss.push_back({step, row["loss"].get<double>()});
    if (row.contains("validation_exact_match")) {
      run.validation.push_back({step, row["validation_exact_match"].get<double>()});
    }
  });
}

void read_examples(StoredRun& run) {
  const fs::path path = run.folder / "examples.jsonl";
  if (!fs::exists(path)) return;
  for_each_line(path, false, [&](const Json& row) {
    run.examples.push_back({row.at("length").get<int64_t>(), row.at("prompt").get<std::string>(),
                            row.at("target").get<std::string>(), row.at("answer").get<std::string>(),
                            row.at("correct").get<bool>()});
  });
}

}  // namespace

bool is_run_folder(const fs::path& folder) {
  const fs::path path = folder / "config.json";
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return false;
  const Json config = Json::parse(read_file(path), nullptr, /*allow_exceptions=*/false);
  return config.is_object() && config.value("format", "") == "lengthwise-run";
}

void read_run(const LoadOptions& options, StoredRun& run) {
  try {
    if (!fs::exists(run.folder / "config.json")) {
      if (run.state == StoredState::finished) fail("its folder is gone");
      return;
    }
    read_config(run);
    const bool finished = fs::exists(run.folder / "summary.json");
    if (!finished && run.state == StoredState::finished) fail("summary.json is missing");
    if (!finished || options.curves) read_metrics(options.curves, run);
    if (!finished) return;
    run.state = StoredState::finished;
    run.reason.clear();
    read_summary(options.weights, run);
    read_evaluation(options.weights, run);
    if (options.examples) read_examples(run);
    run.step = run.steps;
  } catch (const std::exception& error) {
    run.state = StoredState::failed;
    run.reason = error.what();
    run.lengths.clear();
  }
}

}  // namespace lengthwise
