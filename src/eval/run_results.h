#pragma once
/// From a trained run to eval.jsonl, examples.jsonl, readings.jsonl and summary.json, and back (docs/formats.md).
#include <string>

#include "core/json.h"
#include "eval/evaluate.h"
#include "train/run_folder.h"

namespace lengthwise {

struct SelectionResult {
  std::string selection;  ///< `best` or `last`
  int64_t step = 0;
  SetAccuracy validation;  ///< lengths seen in training
  SetAccuracy test;
  Accuracy longer;  ///< of the test set, what is longer than anything in training; of no examples where nothing is
};

/// Evaluates best.safetensors and last.safetensors on the run's validation subset and its test set, and writes all
/// files; summary.json comes last and says that the run is finished.
std::vector<SelectionResult> evaluate_run(const TrainConfig& config, const DataSet& data, Model& model,
                                          const RunFolder& folder, const EvaluationOptions& options,
                                          Progress& progress);

/// The results of a finished run as its files hold them. UserError when a file is not what the run wrote, or when its
/// weights are not such of the model; nothing is written. `train_limit`: the longest length of training.
std::vector<SelectionResult> read_results(const RunFolder& folder, Model& model, int64_t train_limit);

/// One row of accuracies, for eval.jsonl, readings.jsonl and `--json`; of all lengths of a category where that is
/// given.
Json accuracy_row(const std::string& selection, const std::string& split, int64_t length, const std::string& category,
                  const Accuracy& accuracy);
std::string accuracy_json(const std::string& selection, const std::string& split, int64_t length,
                          const std::string& category, const Accuracy& accuracy);

}  // namespace lengthwise
