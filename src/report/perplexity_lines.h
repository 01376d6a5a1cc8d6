#pragma once
/// What runs on text measured, by protocol, encoding and what it was read with: the lines of tables.
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ranking/perplexity_ranking.h"
#include "results/load_results.h"
#include "results/perplexity_file.h"

namespace lengthwise {

/// What tells the tables of one split apart.
struct PerplexityProtocol {
  std::string corpus, checksum;
  bool crossed = false;
  int64_t stride = 0;  ///< 0: no overlap

  bool operator<(const PerplexityProtocol& other) const;
  std::string words() const;
};

/// The seeds of one encoding, as it was read.
struct PerplexityLine {
  std::string encoding;                              ///< of training
  std::string with;                                  ///< the encoding that it was read with; "": its own
  std::string label;                                 ///< both in prose
  std::map<int64_t, std::vector<ContextRow>> seeds;  ///< by window
};

/// By the place of the encoding in the ranking and by what it was read with, its own first.
using PerplexityLines = std::map<std::pair<size_t, std::string>, PerplexityLine>;

struct SplitPerplexity {
  std::map<PerplexityProtocol, PerplexityLines> protocols;
  std::vector<const StoredRun*> runs;
  std::set<std::string> seeds;
};

/// Of the finished runs of a ranking's split, measured with these weights (`best` or `last`).
SplitPerplexity perplexity_lines(const Results& results, const PerplexityRanking& ranking, const std::string& weights);

}  // namespace lengthwise
