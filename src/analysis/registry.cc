#include "analysis/analysis.h"

namespace lengthwise {

// One line per analysis: its name, what it says, how many runs it needs at least, and the function that makes it,
// defined in a file of its own.
#define LENGTHWISE_ANALYSES(ANALYSIS)                                                                    \
  ANALYSIS("probe", "what hidden states tell of position and distance, against controls", 1, make_probe) \
  ANALYSIS("heads", "what every head attends to, and whether by position", 1, make_heads)                \
  ANALYSIS("similarity", "divergence between the attention of two models, by layer and length", 2, make_similarity)

#define LENGTHWISE_DECLARE(name, summary, least_runs, make) std::unique_ptr<Analysis> make();
LENGTHWISE_ANALYSES(LENGTHWISE_DECLARE)
#undef LENGTHWISE_DECLARE

namespace {

#define LENGTHWISE_ENTRY(name, summary, least_runs, make) AnalysisEntry{name, summary, least_runs, &make},
constexpr AnalysisEntry kAnalyses[] = {LENGTHWISE_ANALYSES(LENGTHWISE_ENTRY)};
#undef LENGTHWISE_ENTRY

}  // namespace

std::span<const AnalysisEntry> analyses() {
  return kAnalyses;
}

}  // namespace lengthwise
