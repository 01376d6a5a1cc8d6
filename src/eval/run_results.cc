#include "eval/run_results.h"

#include <sstream>

#include "core/error.h"
#include "core/files.h"
#include "core/json.h"
#include "eval/answered_examples.h"
#include "eval/engines.h"
#include "eval/more_measures.h"
#include "eval/recorded_files.h"
#include "eval/text_results.h"
#include "train/checkpoint.h"
#include "train/trainer.h"

namespace lengthwise {
namespace {

constexpr const char* kSelections[] = {"best", "last"};

/// Of nothing there is no share.
Json share_of(const Accuracy& accuracy) {
  return accuracy.count == 0 ? Json() : Json(accuracy.share());
}

Json accuracy_object(const Accuracy& accuracy) {
  if (accuracy.count == 0) {
    return {{"count", 0},     {"correct", 0},    {"accuracy", nullptr},
            {"low", nullptr}, {"high", nullptr}, {"loss", nullptr}};
  }
  const Interval interval = wilson_interval(accuracy.correct, accuracy.count);
  return {{"count", accuracy.count}, {"correct", accuracy.correct}, {"accuracy", accuracy.share()},
          {"low", interval.low},     {"high", interval.high},       {"loss", accuracy.mean_loss()}};
}

void append_rows(const std::string& selection, const std::string& split, const SetAccuracy& set, std::string& text) {
  for (const auto& [length, accuracy] : set.by_length)
    text += accuracy_json(selection, split, length, "", accuracy) + "\n";
  for (const auto& [category, accuracy] : set.by_category)
    text += accuracy_json(selection, split, -1, category, accuracy) + "\n";
}

Json by_length(const SelectionResult& result) {
  Json object = Json::object();
  for (const SetAccuracy* set : {&result.validation, &result.test}) {
    for (const auto& [length, accuracy] : set->by_length) object[std::to_string(length)] = accuracy.share();
  }
  return object;
}

Json section_of(const SelectionResult& result) {
  return {{"step", result.step},
          {"in_distribution", share_of(result.validation.all)},
          {"out_of_distribution", share_of(result.longer)},
          {"in_distribution_interval", accuracy_object(result.validation.all)},
          {"out_of_distribution_interval", accuracy_object(result.longer)},
          {"test_interval", accuracy_object(result.test.all)},
          {"accuracy_by_length", by_length(result)}};
}

/// Reads back what accuracy_object wrote. Only the mean of the losses is known, which is all that is ever shown.
Accuracy read_accuracy(const JsonObject& object) {
  const int64_t count = object.whole("count", 0);
  const int64_t correct = object.whole("correct", 0, count);
  return {count, correct, count, object.find_number("loss").value_or(0) * static_cast<double>(count)};
}

void read_rows(const RunFolder& folder, std::vector<SelectionResult>& results) {
  const std::filesystem::path path = folder.file("eval.jsonl");
  std::istringstream lines(read_file(path));
  int64_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::string where = fmt::format("{}:{}", shown(path), ++number);
    const Json json = parse_json(line, where);
    const JsonObject row(json, where);
    const Accuracy accuracy = read_accuracy(row);
    for (SelectionResult& result : results) {
      if (row.text("selection") != result.selection) continue;
      SetAccuracy& set = row.text("split") == "validation" ? result.validation : result.test;
      if (row.has("length")) {
        set.by_length[row.whole("length")] = accuracy;
      } else {
        set.by_category.emplace_back(row.text("category"), accuracy);
      }
    }
  }
}

/// Of a run on text: both sets, and perplexity.json.
void evaluate_text(const TrainConfig& config, const DataSet& data, Model& model, Scorer& scorer,
                   std::span<const int64_t> validation, const RunFolder& folder, Progress& progress,
                   SelectionResult& result) {
  const ResolvedData resolved = resolve(config.data);
  result.validation = text_validation(scorer, data, validation, resolved.context, progress);
  if (data.test.size() == 0) return;
  const ContextOptions options{
      .contexts = resolved.contexts, .cross_documents = resolved.cross_documents, .tokens = resolved.test_tokens()};
  const std::vector<ContextScore> scores = measure_contexts(
      scorer, *data.text, data.vocabulary, options, fmt::format("{} weights, test text", result.selection), progress);
  result.test = accuracy_of(scores);
  const ContextProtocol protocol = context_protocol(config, *data.text, model, result.selection, result.step);
  record_contexts(folder.path(), protocol, scores);
  if (result.selection == kSelections[0]) measure_more(config, data, model, scorer, folder.path(), protocol, progress);
}

}  // namespace

Json accuracy_row(const std::string& selection, const std::string& split, int64_t length, const std::string& category,
                  const Accuracy& accuracy) {
  Json row = {{"selection", selection}, {"split", split}};
  if (category.empty()) {
    row["length"] = length;
  } else {
    row["category"] = category;
  }
  row.update(accuracy_object(accuracy));
  return row;
}

std::string accuracy_json(const std::string& selection, const std::string& split, int64_t length,
                          const std::string& category, const Accuracy& accuracy) {
  return json_text(accuracy_row(selection, split, length, category, accuracy));
}

std::vector<SelectionResult> evaluate_run(const TrainConfig& config, const DataSet& data, Model& model,
                                          const RunFolder& folder, const EvaluationOptions& how, Progress& progress) {
  EvaluationOptions options = how;
  options.precision = config.precision;
  const std::unique_ptr<Scorer> scorer = make_scorer(model, config.precision);
  const std::vector<int64_t> validation = validation_subset(config, data.validation.size());
  const std::vector<int64_t> test = all_examples(data.test);
  const int64_t train_limit = longest_length(data.train);
  std::vector<SelectionResult> results;
  std::string rows;
  std::string examples;
  std::string readings;
  Json summary = {{"format", "lengthwise-summary"}, {"version", 1}};
  for (const char* selection : kSelections) {
    SelectionResult result;
    result.selection = selection;
    result.step = read_weights(folder.file(std::string(selection) + ".safetensors"), model.parameters());
    if (!results.empty() && results.front().step == result.step) {
      result.validation = results.front().validation;
      result.test = results.front().test;
    } else if (data.text) {
      evaluate_text(config, data, model, *scorer, validation, folder, progress, result);
    } else {
      options.subject = fmt::format("{} weights, validation set", selection);
      result.validation = evaluate(model, *scorer, data.vocabulary, data.validation, validation, options, progress);
      options.subject = fmt::format("{} weights, test set", selection);
      result.test = evaluate(model, *scorer, data.vocabulary, data.test, test, options, progress);
    }
    result.longer = longer_than(result.test, train_limit);
    append_rows(selection, "validation", result.validation, rows);
    append_rows(selection, "test", result.test, rows);
    const Json section = section_of(result);
    if (results.empty()) {
      if (!data.text) {
        examples = answered_examples(model, *scorer, data.vocabulary, data.test, train_limit, options);
        readings = measure_readings(config, data, model, validation, options, progress);
      }
      // The study's selection is the run's result; both are kept below.
      for (const char* key : {"in_distribution", "out_of_distribution", "accuracy_by_length"})
        summary[key] = section[key];
      summary["selection"] = "best";
      summary["decoding"] = to_text(options.decoding);
      summary["parameters"] = model.parameters().count();
    }
    summary[selection] = section;
    results.push_back(std::move(result));
  }
  write_file(folder.file("eval.jsonl"), rows);
  write_file(folder.file("examples.jsonl"), examples);
  // Of an evaluation that was cut off, one may be there.
  remove_path(folder.file("readings.jsonl"));
  if (!readings.empty()) write_file(folder.file("readings.jsonl"), readings);
  summary["files"] = record_files(folder.path());
  seal(summary);
  write_file(folder.file("summary.json"), json_text(summary, 2) + "\n");
  return results;
}

std::vector<SelectionResult> read_results(const RunFolder& folder, Model& model, int64_t train_limit) {
  check_recorded_files(folder.path());
  const Json json = read_summary(folder.path());
  const JsonObject summary(json, shown(folder.file("summary.json")));
  std::vector<SelectionResult> results;
  for (const char* selection : kSelections) {
    const JsonObject section = summary.object(selection);
    SelectionResult& result = results.emplace_back();
    result.selection = selection;
    result.step = section.whole("step", 0);
    const std::filesystem::path weights = folder.file(std::string(selection) + ".safetensors");
    if (is_there(weights) && read_weights(weights, model.parameters()) != result.step) {
      fail("{} is not of step {}, which the results are of", shown(weights), result.step);
    }
    result.validation.all = read_accuracy(section.object("in_distribution_interval"));
    // Earlier versions had one number, for the whole test set.
    result.longer = read_accuracy(section.object("out_of_distribution_interval"));
    result.test.all = section.has("test_interval") ? read_accuracy(section.object("test_interval")) : result.longer;
  }
  read_rows(folder, results);
  for (SelectionResult& result : results) {
    const Accuracy longer = longer_than(result.test, train_limit);
    if (longer.count != result.longer.count) result.longer = longer;
  }
  return results;
}

}  // namespace lengthwise
