#include "report/perplexity_markdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/counted.h"
#include "core/text.h"
#include "report/markdown_parts.h"
#include "report/perplexity_lines.h"

namespace lengthwise {
namespace {

/// `7.93 (7.91–7.95)` of values of seeds that are shown by `show`.
template <class Show>
std::string seeds_cell(const std::vector<double>& values, const Show& show) {
  if (values.empty()) return "–";
  double sum = 0;
  for (const double value : values) sum += value;
  std::string mean = show(sum / static_cast<double>(values.size()));
  if (values.size() == 1) return mean;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return fmt::format("{} ({}–{})", mean, show(*least), show(*most));
}

std::string context_table(const PerplexityLines& lines, int64_t trained) {
  std::set<int64_t> windows;
  for (const auto& [place, line] : lines) {
    for (const auto& [window, seeds] : line.seeds) windows.insert(window);
  }
  std::vector<std::string> names{"encoding"};
  for (const int64_t window : windows) {
    names.push_back(fmt::format("{} ({:g}×)", window, static_cast<double>(window) / static_cast<double>(trained)));
  }
  std::string text = markdown_heading(names, 1);
  for (const auto& [place, line] : lines) {
    std::vector<std::string> cells{markdown_cell(line.label)};
    for (const int64_t window : windows) {
      std::vector<double> values;
      if (const auto found = line.seeds.find(window); found != line.seeds.end()) {
        for (const ContextRow& row : found->second) values.push_back(row.nats / static_cast<double>(row.tokens));
      }
      cells.push_back(seeds_cell(values, [](double nats) { return fmt::format("{:.2f}", std::exp(nats)); }));
    }
    text += markdown_row(cells);
  }
  return text;
}

/// Of the longest window that every line has; "" where there is none.
std::string position_table(const PerplexityLines& lines, int64_t& window) {
  window = 0;
  for (const auto& measured : lines.begin()->second.seeds) {
    const bool all = std::all_of(lines.begin(), lines.end(),
                                 [&](const auto& line) { return line.second.seeds.contains(measured.first); });
    if (all) window = measured.first;
  }
  if (window == 0) return "";
  std::vector<std::string> names{"encoding"};
  for (const PositionSum& bin : lines.begin()->second.seeds.at(window).front().positions) {
    names.push_back(bin.from == bin.to ? std::to_string(bin.from) : fmt::format("{}–{}", bin.from, bin.to));
  }
  std::string text = markdown_heading(names, 1);
  for (const auto& [place, line] : lines) {
    std::vector<std::string> cells{markdown_cell(line.label)};
    for (size_t bin = 0; bin + 1 < names.size(); ++bin) {
      double nats = 0;
      int64_t tokens = 0;
      for (const ContextRow& row : line.seeds.at(window)) {
        if (bin >= row.positions.size()) continue;
        nats += row.positions[bin].nats;
        tokens += row.positions[bin].tokens;
      }
      cells.push_back(tokens == 0 ? "–" : fmt::format("{:.2f}", nats / static_cast<double>(tokens)));
    }
    text += markdown_row(cells);
  }
  return text;
}

std::string protocol_tables(const PerplexityProtocol& protocol, const PerplexityLines& lines, int64_t trained) {
  const ContextRow& shown = lines.begin()->second.seeds.rbegin()->second.front();
  std::string text = fmt::format(
      "\n#### Perplexity by context, {}\n\n{}\nMean over seeds, in brackets the least and the most of them. "
      "The protocol of the first row's last number: {}.\n",
      protocol.words(), context_table(lines, trained), markdown_cell(protocol_line(shown)));
  int64_t window = 0;
  const std::string positions = protocol.stride == 0 ? position_table(lines, window) : "";
  if (positions.empty()) return text;
  return text + fmt::format(
                    "\n#### Loss by position in windows of {}\n\n{}\nNats per token, by the number of tokens that "
                    "stand before in the window; all seeds together.\n",
                    window, positions);
}

}  // namespace

std::string perplexity_markdown(const Results& results, const std::vector<PerplexityRanking>& rankings,
                                const std::string& weights) {
  std::string text;
  for (const PerplexityRanking& ranking : rankings) {
    const SplitPerplexity split = perplexity_lines(results, ranking, weights);
    text += fmt::format("### {}\n\n{} on text: {}, {}{}. {}\n", markdown_cell(ranking.split),
                        counted(split.runs.size(), "run"), counted(ranking.rows.size(), "encoding"),
                        counted(split.seeds.size(), "seed"), made_where(split.runs),
                        markdown_cell(perplexity_answer({ranking})));
    for (const auto& [protocol, lines] : split.protocols) text += protocol_tables(protocol, lines, ranking.trained);
    text += "\n";
  }
  return text;
}

}  // namespace lengthwise
