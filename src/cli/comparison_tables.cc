#include "cli/comparison_tables.h"

#include <algorithm>
#include <map>

#include "cli/overview_tables.h"
#include "core/printable.h"
#include "core/table.h"
#include "ranking/answer.h"

namespace lengthwise {
namespace {

std::string number(const std::optional<Estimate>& estimate, int digits = 4) {
  return estimate ? fmt::format("{:.{}f}", estimate->value, digits) : std::string("-");
}

std::string interval(const Comparison& comparison, const std::optional<Estimate>& estimate) {
  if (!estimate || !comparison.resampled) return "-";
  return fmt::format("{:.3f}-{:.3f}", estimate->low, estimate->high);
}

std::string length(const std::optional<int64_t>& value) {
  return value ? std::to_string(*value) : std::string("never");
}

std::string ranking_table(const Comparison& comparison) {
  const bool ranked = !comparison.ranking.empty() && comparison.ranking.front().mrr;
  const bool by_category = ranked && comparison.categories.size() > 1;
  std::vector<std::string> header = {"encoding"};
  if (ranked) header.insert(header.end(), {"MRR", "interval"});
  if (by_category) {
    for (const std::string& category : comparison.categories) header.push_back(category.empty() ? "other" : category);
  }
  header.insert(header.end(), {"longer", "interval", "trained"});
  Table table(header);
  const std::vector<std::string> names = table_names(comparison);
  for (const RankedEncoding& row : comparison.ranking) {
    std::vector<std::string> cells = {names[row.encoding]};
    if (ranked) cells.insert(cells.end(), {number(row.mrr), interval(comparison, row.mrr)});
    if (by_category) {
      for (const auto& mrr : row.category_mrr) cells.push_back(number(mrr));
    }
    cells.insert(cells.end(), {number(row.longer), interval(comparison, row.longer), number(row.trained)});
    table.add(cells);
  }
  std::string text = table.to_string() + abbreviations(comparison);
  if (!ranked) return text;
  std::string what = "MRR: mean reciprocal rank";
  if (by_category) what += ", overall and by category";
  return text + fmt::format(
                    "{}, over {} comparison{} (split and seed), {}; chance is {:.4f}. longer: accuracy on test "
                    "examples longer than any in training; trained: on validation examples.\n",
                    what, comparison.queries, comparison.queries == 1 ? "" : "s", describe(comparison.options.ties),
                    chance_reciprocal_rank(comparison.encodings.size()));
}

std::string split_table(const Comparison& comparison) {
  const bool inside = std::any_of(comparison.cells.begin(), comparison.cells.end(),
                                  [](const ComparedCell& cell) { return cell.inside.has_value(); });
  std::vector<std::string> header = {"split", "category", "encoding", "seeds", "trained"};
  if (inside) header.emplace_back("test, not longer");
  header.insert(header.end(), {"longer", "interval", "under half at", "interval"});
  Table table(header);
  const std::vector<std::string> names = table_names(comparison);
  for (const ComparedCell& cell : comparison.cells) {
    const ComparedSplit& split = comparison.splits[cell.split];
    std::string half = "-";
    std::string half_interval = "-";
    if (cell.curve) {
      const LengthEstimate& estimate = cell.curve->under_half;
      half = length(estimate.value);
      half_interval = length(estimate.low) + "-" + length(estimate.high);
    }
    std::vector<std::string> row = {split.name, split.category.empty() ? "-" : split.category, names[cell.encoding],
                                    std::to_string(cell.seeds),
                                    number(cell.trained) + (cell.unfit_seeds.empty() ? "" : " !")};
    if (inside) row.push_back(cell.inside ? fmt::format("{:.4f}", *cell.inside) : "-");
    row.insert(row.end(), {number(cell.longer), interval(comparison, cell.longer), half, half_interval});
    table.add(row);
  }
  return table.to_string();
}

std::string choice_table(const Comparison& comparison) {
  Table table({"encoding", "split", "chosen", "values tried", "validation", "of the next best"});
  for (const TunedChoice& choice : comparison.choices) {
    const TriedValue& chosen = choice.tried[choice.chosen];
    std::optional<double> next;
    for (const TriedValue& tried : choice.tried) {
      if (&tried != &chosen && tried.known) next = std::max(next.value_or(0), tried.accuracy);
    }
    table.add({choice.encoding, choice.split, chosen.value, std::to_string(choice.tried.size()),
               chosen.known ? fmt::format("{:.4f}", chosen.accuracy) : "-", next ? fmt::format("{:.4f}", *next) : "-"});
  }
  return "Chosen by validation:\n" + table.to_string();
}

std::string length_tables(const Comparison& comparison) {
  struct Row {
    bool longer = false;
    std::map<size_t, double> values;  ///< by encoding
  };
  std::string text;
  for (size_t s = 0; s < comparison.splits.size(); ++s) {
    std::map<int64_t, Row> rows;
    std::vector<std::string> header = {"length", "longer"};
    std::vector<size_t> columns;
    for (const ComparedCell& cell : comparison.cells) {
      if (cell.split != s || !cell.curve) continue;
      columns.push_back(cell.encoding);
      header.push_back(comparison.encodings[cell.encoding]);
      for (const CurveLength& point : cell.curve->lengths) {
        Row& row = rows[point.length];
        row.longer = row.longer || point.longer;
        row.values[cell.encoding] = point.accuracy.value;
      }
    }
    if (columns.empty()) continue;
    Table table(header);
    for (const auto& [at, row] : rows) {
      std::vector<std::string> cells = {std::to_string(at), row.longer ? "yes" : "no"};
      for (const size_t column : columns) {
        cells.push_back(row.values.contains(column) ? fmt::format("{:.4f}", row.values.at(column)) : std::string("-"));
      }
      table.add(cells);
    }
    const auto& limit = comparison.splits[s].train_limit;
    text +=
        fmt::format("\n{}{}\n{}", printable(comparison.splits[s].name),
                    limit ? fmt::format(" (trained on lengths up to {})", *limit) : std::string(), table.to_string());
  }
  return text;
}

/// `best_alone`: of the first in the ranking with each other one.
std::string pair_table(const Comparison& comparison, bool best_alone) {
  Table table({"encoding", "against", "difference", "interval", "pairs of runs", "p", "p corrected"});
  const std::vector<std::string> names = table_names(comparison);
  for (const ComparedPair& pair : comparison.pairs) {
    if (best_alone && pair.better != comparison.ranking.front().encoding) continue;
    table.add({names[pair.better], names[pair.worse], fmt::format("{:+.4f}", pair.difference.value),
               comparison.resampled ? fmt::format("{:+.3f} to {:+.3f}", pair.difference.low, pair.difference.high)
                                    : std::string("-"),
               std::to_string(pair.test.queries), p_text(pair.test.p), p_text(pair.holm)});
  }
  std::string text =
      table.to_string() +
      "Sign-flip permutation test over (split, seed), two-sided; corrected for the number of pairs (Holm).";
  if (best_alone) text += fmt::format(" --all prints all {} pairs.", comparison.pairs.size());
  return text + "\n";
}

std::string list_of(const char* kind, const std::vector<std::string>& lines, bool short_list) {
  std::string text = lines.empty() ? "" : "\n";
  const size_t shown = short_list ? std::min(lines.size(), kFewEncodings) : lines.size();
  for (size_t i = 0; i < shown; ++i) text += fmt::format("{}: {}\n", kind, printable(lines[i]));
  if (shown < lines.size()) text += fmt::format("and {} more; --all prints them.\n", lines.size() - shown);
  return text;
}

}  // namespace

std::string ranking_text(const Comparison& comparison, const std::vector<PerplexityRanking>& texts,
                         const std::string& readings) {
  std::string text;
  if (!texts.empty()) {
    const std::string answer = perplexity_answer(texts);
    if (!answer.empty()) text += printable(answer) + "\n\n";
    text += perplexity_tables(texts) + readings;
    if (comparison.runs == 0) return text;
  }
  text += printable(answer_of(comparison)) + "\n";
  if (!comparison.ranking.empty()) text += "\n" + ranking_table(comparison);
  return text;
}

std::string comparison_text(const Comparison& comparison, const std::vector<PerplexityRanking>& texts,
                            const std::string& readings, const ShownTables& tables) {
  const bool overview = comparison.encodings.size() > kFewEncodings && !tables.all;
  std::string text = ranking_text(comparison, texts, readings);
  if (tables.by_category) text += category_rankings(comparison, !overview);
  if (!comparison.choices.empty()) text += "\n" + choice_table(comparison);
  if (!comparison.cells.empty()) text += "\n" + (overview ? split_overview(comparison) : split_table(comparison));
  if (tables.by_length) text += overview ? length_overview(comparison) : length_tables(comparison);
  if (!comparison.pairs.empty()) text += "\n" + pair_table(comparison, overview);
  return text + list_of("warning", comparison.warnings, overview) + list_of("note", comparison.notes, false);
}

}  // namespace lengthwise
