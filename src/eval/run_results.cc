#include "eval/run_results.h"

#include <nlohmann/json.hpp>

#include "core/files.h"
#include "eval/answered_examples.h"
#include "eval/engines.h"
#include "train/checkpoint.h"
#include "train/trainer.h"

namespace lengthwise {
namespace {

using Json = nlohmann::ordered_json;

Json accuracy_object(const Accuracy& accuracy) {
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

}  // namespace

std::string accuracy_json(const std::string& selection, const std::string& split, int64_t length,
                          const std::string& category, const Accuracy& accuracy) {
  Json row = {{"selection", selection}, {"split", split}};
  if (category.empty()) {
    row["length"] = length;
  } else {
    row["category"] = category;
  }
  row.update(accuracy_object(accuracy));
  return row.dump();
}

std::vector<SelectionResult> evaluate_run(const TrainConfig& config, const DataSet& data, Decoder& decoder,
                                          const RunFolder& folder, const EvaluationOptions& how, Progress& progress) {
  EvaluationOptions options = how;
  options.precision = config.precision;
  const std::unique_ptr<Scorer> scorer = make_scorer(decoder, config.precision);
  const std::vector<int64_t> validation = validation_subset(config, data.validation.size());
  std::vector<int64_t> test(static_cast<size_t>(data.test.size()));
  for (size_t i = 0; i < test.size(); ++i) test[i] = static_cast<int64_t>(i);
  std::vector<SelectionResult> results;
  std::string rows;
  std::string examples;
  Json summary = {{"format", "lengthwise-summary"}, {"version", 1}};
  for (const char* selection : {"best", "last"}) {
    SelectionResult result;
    result.selection = selection;
    result.step = read_weights(folder.file(std::string(selection) + ".safetensors"), decoder.parameters());
    const bool same = !results.empty() && results.front().step == result.step;
    result.validation =
        same ? results.front().validation
             : evaluate(decoder, *scorer, data.vocabulary, data.validation, validation, options, progress);
    result.test =
        same ? results.front().test : evaluate(decoder, *scorer, data.vocabulary, data.test, test, options, progress);
    append_rows(selection, "validation", result.validation, rows);
    append_rows(selection, "test", result.test, rows);
    const Json section = {{"step", result.step},
                          {"in_distribution", result.validation.all.share()},
                          {"out_of_distribution", result.test.all.share()},
                          {"in_distribution_interval", accuracy_object(result.validation.all)},
                          {"out_of_distribution_interval", accuracy_object(result.test.all)},
                          {"accuracy_by_length", by_length(result)}};
    if (results.empty()) {
      examples = answered_examples(decoder, *scorer, data.vocabulary, data.test, longest_length(data.train), options);
      // The study's selection is the run's result; both are kept below.
      for (const char* key : {"in_distribution", "out_of_distribution", "accuracy_by_length"})
        summary[key] = section[key];
      summary["selection"] = "best";
      summary["decoding"] = to_text(options.decoding);
      summary["parameters"] = decoder.parameters().count();
    }
    summary[selection] = section;
    results.push_back(std::move(result));
  }
  write_file(folder.file("eval.jsonl"), rows);
  write_file(folder.file("examples.jsonl"), examples);
  write_file(folder.file("summary.json"), summary.dump(2) + "\n");
  return results;
}

}  // namespace lengthwise
