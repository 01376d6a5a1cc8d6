#pragma once
/// What a run on text is asked to measure beside its contexts without overlap: a sliding window (--stride), and other
/// encodings than in training (--measure-with), as `eval --stride` and `eval --encoding` do. Both are of the best
/// weights alone, go to perplexity.json and decide nothing: a run may go on with others.
#include <string>
#include <string_view>
#include <vector>

#include "data/data_set.h"
#include "eval/perplexity.h"
#include "model/decoder.h"
#include "train/train_config.h"

namespace lengthwise {

/// `yarn(factor=4), drope(rope,scale=0.5)`: cut at commas outside brackets; UserError for an empty name.
std::vector<std::string> listed_encodings(std::string_view text);

/// UserErrors where the options go without text, the model has no encoding, the stride does not fit the contexts, or
/// nobody knows an encoding. `config` is resolved but for these two.
void check_measures(const TrainConfig& config);

/// And where an encoding needs weights that the run does not train, or has too few positions.
void check_readings(const TrainConfig& config, const Model& model);

/// Measures what was asked for with the weights that the model has now, and adds it to perplexity.json.
void measure_more(const TrainConfig& config, const DataSet& data, const Model& model, Scorer& scorer,
                  const std::filesystem::path& run, const ContextProtocol& protocol, Progress& progress);

}  // namespace lengthwise
