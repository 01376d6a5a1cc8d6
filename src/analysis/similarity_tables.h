#pragma once
/// Divergences as rows of the table, as a summary and as text for the terminal.
#include <string>
#include <vector>

#include "analysis/divergence.h"
#include "analysis/inputs.h"
#include "analysis/output.h"
#include "ranking/estimate.h"

namespace lengthwise {

/// The other run, and what it is to the reference: `encoding` (it has another one), `baseline` (the same model with
/// another seed), `variant` (the same encoding otherwise) or `itself`.
struct ComparedRun {
  std::string name, encoding;
  int64_t seed = 0;
  std::string relation;
};

/// One layer of both runs at one length, or (layer 0) the mean over all layers.
struct LayerDivergence {
  size_t other = 0;  ///< place among the compared runs
  Content content = Content::task;
  Divergence divergence = Divergence::jensen_shannon;
  int64_t length = 0;
  int64_t tokens = 0;  ///< of the longest sequence
  int64_t layer = 0;   ///< from 1; 0: the mean over layers
  Estimate nearest;    ///< mean over sequences
  int64_t sequences = 0;
  NearestHeads heads;  ///< nearest in the mean over sequences
};

/// Fills columns, rows, summary and shown.
void tabulate_similarity(const std::vector<ComparedRun>& others, const std::vector<LayerDivergence>& found,
                         AnalysisOutput& output);

}  // namespace lengthwise
