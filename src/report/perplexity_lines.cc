#include "report/perplexity_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "results/encoding_names.h"

namespace lengthwise {

bool PerplexityProtocol::operator<(const PerplexityProtocol& other) const {
  return std::tie(corpus, checksum, crossed, stride) <
         std::tie(other.corpus, other.checksum, other.crossed, other.stride);
}

std::string PerplexityProtocol::words() const {
  return stride == 0 ? "windows without overlap" : fmt::format("sliding by {}", stride);
}

SplitPerplexity perplexity_lines(const Results& results, const PerplexityRanking& ranking, const std::string& weights) {
  SplitPerplexity split;
  for (const StoredRun* run : compared_runs(results)) {
    const auto place = std::find_if(ranking.rows.begin(), ranking.rows.end(),
                                    [&](const auto& row) { return row.encoding == run->encoding; });
    if (run->split != ranking.split || place == ranking.rows.end()) continue;
    split.runs.push_back(run);
    split.seeds.insert(run->seed);
    for (ContextRow& row : read_perplexity(run->folder, weights, run->steps)) {
      const bool own = row.encoding == run->option("encoding");
      const std::string with = own ? "" : row.encoding;
      const std::string label = row.encoding_label.empty() ? encoding_label(row.encoding) : row.encoding_label;
      PerplexityLines& lines =
          split.protocols[{row.corpus, row.corpus_checksum, row.crossed, row.slides() ? row.stride : 0}];
      PerplexityLine& line = lines[{static_cast<size_t>(place - ranking.rows.begin()), with}];
      line.encoding = place->encoding;
      line.with = with;
      line.label = own ? place->label : fmt::format("{}, read with {}", place->label, label);
      line.seeds[row.window].push_back(std::move(row));
    }
  }
  return split;
}

}  // namespace lengthwise
