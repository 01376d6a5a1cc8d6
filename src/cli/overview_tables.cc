#include "cli/overview_tables.h"

#include <algorithm>
#include <map>

#include "core/printable.h"
#include "core/table.h"

namespace lengthwise {
namespace {

/// Names of at most so many bytes stand in tables as they are.
constexpr size_t kLongestName = 28;
/// Columns of lengths that stand side by side.
constexpr size_t kLengths = 20;

std::string number(const std::optional<Estimate>& estimate, int digits) {
  return estimate ? fmt::format("{:.{}f}", estimate->value, digits) : std::string("-");
}

std::string interval(const Comparison& comparison, const std::optional<Estimate>& estimate) {
  if (!estimate || !comparison.resampled) return "-";
  return fmt::format("{:.3f}-{:.3f}", estimate->low, estimate->high);
}

double value_of(const std::optional<Estimate>& estimate) {
  return estimate ? estimate->value : -1;
}

/// Rows of the ranking, by the mean reciprocal rank in one category.
std::vector<const RankedEncoding*> ranked_in(const Comparison& comparison, size_t category) {
  std::vector<const RankedEncoding*> rows;
  for (const RankedEncoding& row : comparison.ranking) {
    if (row.category_longer[category]) rows.push_back(&row);
  }
  std::stable_sort(rows.begin(), rows.end(), [&](const RankedEncoding* a, const RankedEncoding* b) {
    const double x = value_of(a->category_mrr[category]), y = value_of(b->category_mrr[category]);
    return x != y ? x > y : value_of(a->category_longer[category]) > value_of(b->category_longer[category]);
  });
  return rows;
}

}  // namespace

std::vector<std::string> table_names(const Comparison& comparison) {
  std::vector<std::string> names = comparison.encodings;
  for (size_t e = 0; e < names.size(); ++e) {
    if (names[e].size() > kLongestName && comparison.labels[e].size() < names[e].size())
      names[e] = comparison.labels[e];
  }
  return names;
}

std::string abbreviations(const Comparison& comparison) {
  std::string text;
  const std::vector<std::string> names = table_names(comparison);
  for (size_t e = 0; e < names.size(); ++e) {
    if (names[e] != comparison.encodings[e])
      text += fmt::format("{} is {}\n", printable(names[e]), printable(comparison.encodings[e]));
  }
  return text;
}

std::string split_overview(const Comparison& comparison) {
  const std::vector<std::string> names = table_names(comparison);
  std::vector<std::string> header = {"longer lengths"};
  for (const ComparedSplit& split : comparison.splits) header.push_back(split.name);
  Table table(header);
  for (const RankedEncoding& row : comparison.ranking) {
    std::vector<std::string> cells = {names[row.encoding]};
    for (size_t s = 0; s < comparison.splits.size(); ++s) {
      const ComparedCell* cell = comparison.cell(s, row.encoding);
      const bool fits = cell == nullptr || cell->unfit_seeds.empty();
      cells.push_back(cell == nullptr ? "-" : number(cell->longer, 3) + (fits ? " " : "!"));
    }
    table.add(cells);
  }
  return table.to_string() +
         "!: some seed did not learn the lengths of training. --all prints intervals and every split.\n";
}

std::string length_overview(const Comparison& comparison) {
  const std::vector<std::string> names = table_names(comparison);
  std::string text;
  for (size_t s = 0; s < comparison.splits.size(); ++s) {
    std::map<int64_t, bool> lengths;  // longer?
    std::map<size_t, std::map<int64_t, double>> curves;
    for (const ComparedCell& cell : comparison.cells) {
      if (cell.split != s || !cell.curve) continue;
      for (const CurveLength& point : cell.curve->lengths) {
        lengths[point.length] = lengths[point.length] || point.longer;
        curves[cell.encoding][point.length] = point.accuracy.value;
      }
    }
    if (lengths.empty()) continue;
    const auto& limit = comparison.splits[s].train_limit;
    text += fmt::format("\n{}{}\n", printable(comparison.splits[s].name),
                        limit ? fmt::format(" (trained on lengths up to {})", *limit) : std::string());
    for (auto begin = lengths.begin(); begin != lengths.end();) {
      const auto end = std::next(begin, std::min<std::ptrdiff_t>(kLengths, std::distance(begin, lengths.end())));
      std::vector<std::string> header = {"length"};
      for (auto at = begin; at != end; ++at) header.push_back(std::to_string(at->first) + (at->second ? "+" : ""));
      Table table(header);
      for (const RankedEncoding& row : comparison.ranking) {
        if (!curves.contains(row.encoding)) continue;
        std::vector<std::string> cells = {names[row.encoding]};
        for (auto at = begin; at != end; ++at) {
          const auto& curve = curves[row.encoding];
          const auto found = curve.find(at->first);
          cells.push_back(found == curve.end() ? "-" : fmt::format("{:.2f}", found->second));
        }
        table.add(cells);
      }
      text += table.to_string();
      begin = end;
    }
  }
  return text.empty() ? text : text + "+: longer than any in training.\n";
}

std::string category_rankings(const Comparison& comparison, bool all) {
  const std::vector<std::string> names = table_names(comparison);
  std::string text;
  for (size_t c = 0; c < comparison.categories.size(); ++c) {
    const std::vector<const RankedEncoding*> rows = ranked_in(comparison, c);
    if (rows.empty()) continue;
    Table table({"", "encoding", "MRR", "interval", "longer", "interval"});
    const size_t shown = all ? rows.size() : std::min(rows.size(), kFewEncodings);
    for (size_t i = 0; i < shown; ++i) {
      const RankedEncoding& row = *rows[i];
      table.add({std::to_string(i + 1), names[row.encoding], number(row.category_mrr[c], 4),
                 interval(comparison, row.category_mrr[c]), number(row.category_longer[c], 4),
                 interval(comparison, row.category_longer[c])});
    }
    const std::string& category = comparison.categories[c];
    text += fmt::format("\n{}\n{}", printable(category.empty() ? "other" : category), table.to_string());
    if (shown < rows.size()) text += fmt::format("and {} more; --all prints them.\n", rows.size() - shown);
  }
  return text;
}

}  // namespace lengthwise
