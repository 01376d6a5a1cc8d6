#include "results/read_run.h"

#include <algorithm>

#include "core/error.h"
#include "core/files.h"
#include "core/json.h"
#include "core/length_range.h"
#include "results/encoding_names.h"
#include "results/json_lines.h"
#include "results/run_files.h"
#include "tasks/registry.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;

const Task* task_called(const std::string& name) {
  for (const auto& task : tasks()) {
    const TaskInfo& info = task->info();
    // A task that the study does not have has no name there, and own data has no name of a task.
    if (!name.empty() && (info.name == name || info.paper == name)) return task.get();
  }
  return nullptr;
}

void name_task(StoredRun& run) {
  run.task = run.option("task");
  const Task* task = task_called(run.task);
  if (task != nullptr) {
    run.task = task->info().name;
    run.category = task->info().group;
    run.unit = task->info().unit;
    if (run.option("corpus").empty()) run.train_limit = task->info().train.high;
  } else if (run.task.empty()) {
    const bool text = !run.option("text").empty();
    fs::path data(run.option(text ? "text" : "data"));
    if (text) {
      run.unit = "tokens";
      run.category = "text";
    }
    if (!data.has_filename()) data = data.parent_path();
    run.task = data.filename().string();
  }
  if (run.task.empty()) fail("config.json is damaged: it names neither a task nor a folder of data or text");
}

/// As it is written on the command line; null is "".
std::string option_text(const Json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? value.get_ref<const std::string&>() : json_text(value);
}

void read_config(const RunFiles& files, StoredRun& run) {
  const Json json = files.read_json("config.json");
  const JsonObject config(json, "config.json");
  run.program = config.find_text("lengthwise").value_or("");
  const JsonObject options = config.object("options");
  for (const auto& [key, value] : options.members()) run.options.emplace_back(key, option_text(value));
  name_task(run);
  run.encoding = compared_name(run);
  if (run.encoding.empty()) fail("config.json is damaged: it names no encoding");
  run.label = config.find_text("encoding_label").value_or(encoding_label(run.encoding));
  run.family = config.find_text("encoding_family").value_or(encoding_family(run.encoding));
  run.seed = run.option("seed");
  run.scratchpad = !run.option("scratchpad").empty() && run.option("scratchpad") != "none";
  run.steps = std::max(run.steps, options.find_whole("steps", 0).value_or(0));
  if (!run.option("train-lengths").empty()) {
    LengthRange lengths;
    from_text(run.option("train-lengths"), lengths);
    run.train_limit = lengths.high;
  }
}

/// Where nobody says how long training examples were, those of validation tell: they are drawn alike.
void complete_limit(StoredRun& run) {
  for (const LengthResult& row : run.lengths) {
    if (row.counts.validation) run.train_limit = std::max(run.train_limit.value_or(0), row.counts.length);
  }
}

void keep_curves(const LoadOptions& options, Metrics metrics, StoredRun& run) {
  run.step = std::max(run.step, metrics.last_step);
  if (!options.curves) return;
  run.loss = std::move(metrics.loss);
  run.validation = std::move(metrics.validation);
}

void read_summary(const LoadOptions& options, const JsonObject& summary, StoredRun& run) {
  run.parameters = summary.find_whole("parameters").value_or(0);
  run.decoding = summary.find_text("decoding").value_or("");
  if (summary.has(options.weights)) {
    run.weights_step = summary.object(options.weights).find_whole("step").value_or(0);
  }
}

/// Who made it, a note: what is missing or damaged there is not known, and the run as good as before.
void read_origin(const RunFiles& files, StoredRun& run) {
  if (!files.has("origin.json")) return;
  try {
    const Json json = parse_json(files.read("origin.json"), "origin.json");
    const JsonObject origin(json, "origin.json");
    run.training_seconds = origin.find_number("seconds", 0);
    run.machine = origin.find_text("machine").value_or("");
    run.commit = origin.find_text("commit").value_or("");
  } catch (const UserError&) {
  }
}

void read_examples(const RunFiles& files, StoredRun& run) {
  for_each_object(files.read("examples.jsonl"), "examples.jsonl", false, [&](const JsonObject& row) {
    run.examples.push_back(
        {row.whole("length"), row.text("prompt"), row.text("target"), row.text("answer"), row.flag("correct")});
  });
}

void read_finished(const LoadOptions& options, RunFiles& files, StoredRun& run) {
  const JsonObject summary = files.read_summary();
  read_config(files, run);
  read_summary(options, summary, run);
  read_origin(files, run);
  run.lengths = parse_evaluation(files.read("eval.jsonl"), options.weights, summary);
  complete_limit(run);
  if (options.weights == "best" && files.has("readings.jsonl"))
    run.readings = parse_readings(files.read("readings.jsonl"), run.lengths);
  if (files.has("metrics.jsonl")) {
    const std::string text = files.read("metrics.jsonl");
    // With a checksum it is whole, and only charts need what is in it.
    if (!files.vouched("metrics.jsonl")) {
      keep_curves(options, finished_metrics(text, run.steps), run);
    } else if (options.curves) {
      keep_curves(options, growing_metrics(text), run);
    }
  }
  if (options.examples && files.has("examples.jsonl")) read_examples(files, run);
  run.step = run.steps;
  run.state = StoredState::finished;
  run.reason.clear();
}

void read_unfinished(const LoadOptions& options, const RunFiles& files, StoredRun& run) {
  if (run.state == StoredState::finished) fail("summary.json is missing");
  read_config(files, run);
  if (files.has("metrics.jsonl")) keep_curves(options, growing_metrics(files.read("metrics.jsonl")), run);
}

}  // namespace

bool is_run_folder(const fs::path& folder) {
  const RunFiles files(folder);
  if (!is_file(folder / "config.json")) return false;
  try {
    const Json config = parse_json(files.read("config.json"), "config.json");
    return JsonObject(config, "config.json").find_text("format") == "lengthwise-run";
  } catch (const UserError&) {
    // Somebody else's file, or a damaged one of ours: the files beside it tell.
    return files.has("summary.json") || files.has("metrics.jsonl");
  }
}

void read_run(const LoadOptions& options, StoredRun& run) {
  try {
    RunFiles files(run.folder);
    if (!files.has("config.json")) {
      if (run.state == StoredState::finished) fail("its folder is gone");
      return;
    }
    files.has("summary.json") ? read_finished(options, files, run) : read_unfinished(options, files, run);
  } catch (const std::exception& error) {
    run.state = StoredState::damaged;
    run.reason = message_of(error);
    run.lengths.clear();
  }
}

}  // namespace lengthwise
