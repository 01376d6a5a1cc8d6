#pragma once
/// Runs on text as tables for a document: perplexity by context for every protocol, and the loss by position.
#include <string>
#include <vector>

#include "ranking/perplexity_ranking.h"
#include "results/load_results.h"

namespace lengthwise {

/// Of the finished runs of the rankings' splits, by the order of each ranking; an encoding that was read with another
/// one has a row of its own below. Cells are means over seeds, with the least and the most of them in brackets. The
/// loss by position is that of the longest windows without overlap, in nats per token. Every table is followed by its
/// protocol.
/// "" where there is no ranking. UserError where a run's perplexity.json is damaged.
std::string perplexity_markdown(const Results& results, const std::vector<PerplexityRanking>& rankings,
                                const std::string& weights);

}  // namespace lengthwise
