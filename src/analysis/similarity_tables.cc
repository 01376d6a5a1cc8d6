#include "analysis/similarity_tables.h"

#include <algorithm>
#include <set>

#include "core/error.h"
#include "core/table.h"

namespace lengthwise {
namespace {

/// The means over layers: a row for every other run, a column for every length.
std::string table_of(const std::vector<ComparedRun>& others, const std::vector<LayerDivergence>& found, Content content,
                     Divergence divergence) {
  std::set<int64_t> lengths;
  for (const LayerDivergence& entry : found) lengths.insert(entry.length);
  std::vector<std::string> header{"with", "encoding", "seed", "relation"};
  for (const int64_t length : lengths) header.push_back(fmt::format("length {}", length));
  Table table(header);
  for (size_t i = 0; i < others.size(); ++i) {
    std::vector<std::string> row{others[i].name, others[i].encoding, std::to_string(others[i].seed),
                                 others[i].relation};
    for (const int64_t length : lengths) {
      const auto entry = std::find_if(found.begin(), found.end(), [&](const LayerDivergence& candidate) {
        return candidate.other == i && candidate.length == length && candidate.layer == 0 &&
               candidate.content == content && candidate.divergence == divergence;
      });
      row.push_back(entry == found.end() ? "-"
                                         : fmt::format("{:.4f} ({:.4f}-{:.4f})", entry->nearest.value,
                                                       entry->nearest.low, entry->nearest.high));
    }
    table.add(row);
  }
  return table.to_string();
}

bool has(const std::vector<LayerDivergence>& found, Content content, Divergence divergence) {
  return std::any_of(found.begin(), found.end(), [&](const LayerDivergence& entry) {
    return entry.content == content && entry.divergence == divergence;
  });
}

}  // namespace

void tabulate_similarity(const std::vector<ComparedRun>& others, const std::vector<LayerDivergence>& found,
                         AnalysisOutput& output) {
  output.version = 2;  // the first counted heads from 0
  output.columns = {"other",       "other_encoding", "other_seed", "relation", "content",
                    "computation", "length",         "tokens",     "layer",    "divergence",
                    "low",         "high",           "sequences",  "head",     "other_head"};
  Json means = Json::array();
  for (const LayerDivergence& entry : found) {
    const ComparedRun& other = others[entry.other];
    if (entry.layer == 0) {
      means.push_back({{"other", other.name},
                       {"other_encoding", other.encoding},
                       {"other_seed", other.seed},
                       {"relation", other.relation},
                       {"content", to_text(entry.content)},
                       {"computation", to_text(entry.divergence)},
                       {"length", entry.length},
                       {"divergence", entry.nearest.value},
                       {"low", entry.nearest.low},
                       {"high", entry.nearest.high}});
      continue;
    }
    output.rows.push_back({other.name, other.encoding, std::to_string(other.seed), other.relation,
                           to_text(entry.content), to_text(entry.divergence), std::to_string(entry.length),
                           std::to_string(entry.tokens), std::to_string(entry.layer), number_cell(entry.nearest.value),
                           number_cell(entry.nearest.low), number_cell(entry.nearest.high),
                           std::to_string(entry.sequences), std::to_string(entry.heads.head + 1),
                           std::to_string(entry.heads.other_head + 1)});
  }
  output.summary["mean_over_layers"] = std::move(means);
  for (const Divergence divergence : {Divergence::jensen_shannon, Divergence::as_published}) {
    for (const Content content : {Content::exchanged, Content::task}) {
      if (!has(found, content, divergence)) continue;
      output.shown +=
          fmt::format("{}, {}: {} divergence, {} content, mean over layers\n{}\n", output.run.name, output.run.encoding,
                      to_text(divergence), to_text(content), table_of(others, found, content, divergence));
    }
  }
}

}  // namespace lengthwise
