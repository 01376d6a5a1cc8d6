#pragma once
/// eval.jsonl of a run (docs/formats.md): complete, or not a result.
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

/// The rows by length of these weights (`best` or `last`), ascending, of equal lengths validation first.
///
/// UserError where rows and summary.json do not fit together, as after a cut, a doubling or an edit: every length (and
/// category) of a set stands there once and for both weights; accuracies are correct / count; categories, lengths and
/// the summary give the same sums.
std::vector<LengthResult> parse_evaluation(std::string_view text, const std::string& weights,
                                           const JsonObject& summary);

}  // namespace lengthwise
