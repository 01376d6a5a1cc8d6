#pragma once
/// eval.jsonl of a run (docs/formats.md): complete, or not a result. And readings.jsonl, where other encodings read it.
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "results/score.h"

namespace lengthwise {

/// A row of eval.jsonl.
struct LengthResult {
  LengthCount counts;
  double low = 0;  ///< 95 % Wilson interval
  double high = 1;
};

/// What the best weights do with another encoding than in training.
struct Reading {
  std::string encoding;
  std::string label;
  std::vector<LengthResult> lengths;  ///< ascending, of equal lengths validation first
};

/// The rows by length of these weights (`best` or `last`), ascending, of equal lengths validation first.
///
/// UserError where rows and summary.json do not fit together, as after a cut, a doubling or an edit: every length (and
/// category) of a set stands there once and for both weights; accuracies are correct / count; categories, lengths and
/// the summary give the same sums.
std::vector<LengthResult> parse_evaluation(std::string_view text, const std::string& weights,
                                           const JsonObject& summary);

/// In the order of the file. UserError where the examples are not those of `own`, the run's own lengths.
std::vector<Reading> parse_readings(std::string_view text, const std::vector<LengthResult>& own);

}  // namespace lengthwise
