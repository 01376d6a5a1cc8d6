#pragma once
/// What a run is asked to measure beside the rest: with other encodings than in training (--measure-with), as
/// `eval --encoding` does, and a run on text by a sliding window (--stride), as `eval --stride`. Both are of the best
/// weights alone, go to readings.jsonl or, of text, to perplexity.json, and decide nothing: a run may go on with
/// others.
#include <string>
#include <string_view>
#include <vector>

#include "data/data_set.h"
#include "eval/evaluate.h"
#include "eval/perplexity.h"
#include "model/decoder.h"
#include "train/train_config.h"

namespace lengthwise {

/// `yarn(factor=4), drope(rope,scale=0.5)`: cut at commas outside brackets; UserError for an empty name.
std::vector<std::string> listed_encodings(std::string_view text);

/// UserErrors where a stride goes without text, the model has no encoding, the stride does not fit the contexts, or
/// nobody knows an encoding. `config` is resolved but for these two.
void check_measures(const TrainConfig& config);

/// And where an encoding needs weights that the run does not train, or has too few positions.
void check_readings(const TrainConfig& config, const DataSet& data, const Model& model);

/// Validation examples and test set with every other encoding and the weights that the model has now: the lines of
/// readings.jsonl (docs/formats.md), none where no encoding was asked for.
std::string measure_readings(const TrainConfig& config, const DataSet& data, const Model& model,
                             std::span<const int64_t> validation, const EvaluationOptions& how, Progress& progress);

/// The same of text, and by a sliding window where that was asked for, into perplexity.json.
void measure_more(const TrainConfig& config, const DataSet& data, const Model& model, Scorer& scorer,
                  const std::filesystem::path& run, const ContextProtocol& protocol, Progress& progress);

}  // namespace lengthwise
