#include "report/markdown.h"

#include <algorithm>
#include <set>

#include "core/counted.h"
#include "core/marked_part.h"
#include "core/text.h"
#include "ranking/answer.h"
#include "report/markdown_parts.h"
#include "results/run_costs.h"

namespace lengthwise {
namespace {

constexpr std::string_view kBegin = "<!-- the tables of a comparison begin: written by `lengthwise compare --into` -->";
constexpr std::string_view kEnd = "<!-- the tables of a comparison end -->";

/// Accuracy from which an encoding is said to solve a task at longer lengths.
constexpr double kSolves = 0.5;

/// Lengths in those of the longest of training, as the edges of columns; those past 2 only where lengths go so far.
constexpr double kReaches[] = {1.25, 1.5, 2, 3, 4, 8};

/// `.968`
std::string share(double value) {
  const std::string text = fmt::format("{:.3f}", value);
  return text.starts_with("0.") ? text.substr(1) : text;
}

std::string estimate(const Comparison& comparison, const std::optional<Estimate>& value) {
  if (!value) return "–";
  if (!comparison.resampled) return share(value->value);
  return fmt::format("{} ({}–{})", share(value->value), share(value->low), share(value->high));
}

std::string facts(const Results& results, const Comparison& comparison) {
  std::set<std::string> seeds;
  for (const ComparedSplit& split : comparison.splits) seeds.insert(split.seeds.begin(), split.seeds.end());
  const std::vector<const StoredRun*> compared = compared_runs(results);
  const auto read =
      static_cast<size_t>(std::ranges::count_if(compared, [](const StoredRun* run) { return run->is_reading; }));
  std::string text =
      fmt::format("{}{}: {}, {}, {}", counted(static_cast<size_t>(comparison.runs) - read, "run"),
                  read == 0 ? "" : " and " + counted(read, "reading") + " with other encodings than in training",
                  counted(comparison.encodings.size(), "encoding"),
                  counted(comparison.splits.size(), split_noun(comparison)), counted(seeds.size(), "seed"));
  return text + made_where(compared) + ". " + markdown_cell(answer_of(comparison)) + "\n";
}

std::string ranking(const Comparison& comparison) {
  const bool ranked = !comparison.ranking.empty() && comparison.ranking.front().mrr;
  const bool by_category = ranked && comparison.categories.size() > 1;
  std::vector<std::string> names = {"", "encoding", "family"};
  if (ranked) names.emplace_back("MRR");
  if (by_category) {
    for (const std::string& category : comparison.categories)
      names.push_back(category.empty() ? "other" : markdown_cell(category));
  }
  names.insert(names.end(), {"longer", "trained"});
  std::string text = markdown_heading(names, 3);
  int place = 0;
  for (const RankedEncoding& one : comparison.ranking) {
    std::vector<std::string> cells = {std::to_string(++place), markdown_cell(comparison.labels[one.encoding]),
                                      markdown_cell(comparison.families[one.encoding])};
    if (ranked) cells.push_back(estimate(comparison, one.mrr));
    if (by_category) {
      for (const auto& mrr : one.category_mrr) cells.push_back(estimate(comparison, mrr));
    }
    cells.push_back(estimate(comparison, one.longer));
    cells.push_back(one.trained ? share(one.trained->value) : "–");
    text += markdown_row(cells);
  }
  if (!ranked) return text;
  return text + fmt::format(
                    "\nMRR: mean reciprocal rank over {} comparisons (split and seed){}, {}; chance is {}. "
                    "longer: accuracy on test examples longer than any in training, trained: on validation examples, "
                    "means over splits. In brackets 95 % bootstrap intervals.\n",
                    comparison.queries, by_category ? ", and by category of tasks" : "",
                    describe(comparison.options.ties), share(chance_reciprocal_rank(comparison.encodings.size())));
}

std::string by_split(const Comparison& comparison) {
  std::vector<std::string> names = {"encoding"};
  for (const ComparedSplit& split : comparison.splits) names.push_back(markdown_cell(split.name));
  names.emplace_back("solved");
  std::string text = markdown_heading(names, 1);
  for (const RankedEncoding& one : comparison.ranking) {
    std::vector<std::string> cells = {markdown_cell(comparison.labels[one.encoding])};
    size_t solved = 0;
    for (size_t s = 0; s < comparison.splits.size(); ++s) {
      const ComparedCell* cell = comparison.cell(s, one.encoding);
      if (cell == nullptr || !cell->longer) {
        cells.emplace_back("–");
        continue;
      }
      const bool solves = cell->longer->value >= kSolves;
      solved += solves ? 1 : 0;
      cells.push_back(fmt::format("{}{}{}", solves ? "**" : "", share(cell->longer->value), solves ? "**" : "") +
                      (cell->unfit_seeds.empty() ? "" : " ✗"));
    }
    cells.push_back(std::to_string(solved));
    text += markdown_row(cells);
  }
  return text + fmt::format(
                    "\nAccuracy on longer lengths, bold from one half on; solved: in how many columns it is. ✗: some "
                    "seed did not learn the lengths of training (below {} on them), so that its place says nothing "
                    "about the encoding.\n",
                    comparison.fit());
}

/// Mean over splits of the mean over the lengths between two multiples of the longest of training.
std::optional<double> reached(const Comparison& comparison, size_t encoding, double low, double high) {
  double sum = 0;
  size_t splits = 0;
  for (size_t s = 0; s < comparison.splits.size(); ++s) {
    const ComparedCell* cell = comparison.cell(s, encoding);
    const auto& limit = comparison.splits[s].train_limit;
    if (cell == nullptr || !cell->curve || !limit) continue;
    double total = 0;
    size_t lengths = 0;
    for (const CurveLength& point : cell->curve->lengths) {
      const double times = static_cast<double>(point.length) / static_cast<double>(*limit);
      if (!point.longer || times <= low || times > high) continue;
      total += point.accuracy.value;
      ++lengths;
    }
    if (lengths == 0) continue;
    sum += total / static_cast<double>(lengths);
    ++splits;
  }
  return splits == 0 ? std::nullopt : std::optional(sum / static_cast<double>(splits));
}

/// The edges of the columns that any encoding has numbers for.
std::vector<double> reaches_of(const Comparison& comparison) {
  std::vector<double> reaches;
  double low = 1;
  for (const double reach : kReaches) {
    const bool any = std::any_of(comparison.ranking.begin(), comparison.ranking.end(), [&](const RankedEncoding& one) {
      return reached(comparison, one.encoding, low, reach).has_value();
    });
    if (any || reach <= 2) reaches.push_back(reach);
    low = reach;
  }
  return reaches;
}

std::string by_reach(const Comparison& comparison) {
  const std::vector<double> reaches = reaches_of(comparison);
  std::vector<std::string> names = {"encoding", "trained"}, steps;
  for (const double reach : reaches) {
    names.push_back(fmt::format("to {}×", reach));
    steps.push_back(fmt::format("on to {} times", reach));
  }
  std::string text = markdown_heading(names, 1);
  for (const RankedEncoding& one : comparison.ranking) {
    std::vector<std::string> cells = {markdown_cell(comparison.labels[one.encoding]),
                                      one.trained ? share(one.trained->value) : "–"};
    double low = 1;
    for (const double reach : reaches) {
      const std::optional<double> value = reached(comparison, one.encoding, low, reach);
      cells.push_back(value ? share(*value) : "–");
      low = reach;
    }
    text += markdown_row(cells);
  }
  return text + fmt::format(
                    "\nAccuracy by length in multiples of the longest of training: up to it, {}; means over lengths, "
                    "then over the splits that have such lengths.\n",
                    join(steps, ", "));
}

std::string costs(const Results& results, const Comparison& comparison) {
  const std::vector<EncodingCost> found = encoding_costs(results, comparison.encodings);
  std::vector<size_t> order;
  for (const RankedEncoding& one : comparison.ranking) order.push_back(one.encoding);
  const auto time = [&](size_t encoding) { return found[encoding].step_time.value_or(1e9); };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return time(a) < time(b); });
  std::string text = markdown_heading({"encoding", "family", "time of a step", "ms", "parameters"}, 2);
  bool any = false;
  for (const size_t encoding : order) {
    const EncodingCost& cost = found[encoding];
    any = any || cost.step_time || cost.more_parameters;
    text += markdown_row({markdown_cell(comparison.labels[encoding]), markdown_cell(comparison.families[encoding]),
                          cost.step_time ? fmt::format("{:.2f}×", *cost.step_time) : "–",
                          cost.step_seconds ? fmt::format("{:.2f}", 1000 * *cost.step_seconds) : "–",
                          cost.more_parameters ? fmt::format("{:+}", *cost.more_parameters) : "–"});
  }
  if (!any) return "";
  return text +
         "\nBeside NoPE on the same split with the same seed, the middle of all such pairs: time of a training step "
         "and "
         "parameters more. Times are those of a clock on the wall, with validations in between and with as many runs "
         "at once as the study did; they say what these runs took, not what a kernel can do (performance.md).\n";
}

}  // namespace

std::string comparison_markdown(const Results& results, const Comparison& comparison) {
  std::string text = facts(results, comparison) + "\n### Ranking\n\n" + ranking(comparison);
  if (!comparison.cells.empty()) text += "\n### By task\n\n" + by_split(comparison);
  const bool curves = std::any_of(comparison.cells.begin(), comparison.cells.end(),
                                  [](const ComparedCell& cell) { return cell.curve.has_value(); });
  if (curves) text += "\n### How far\n\n" + by_reach(comparison);
  const std::string cost = costs(results, comparison);
  return cost.empty() ? text : text + "\n### What it costs\n\n" + cost;
}

std::string with_comparison(const std::string& document, const std::string& tables, const std::string& where) {
  return with_marked_part(document, kBegin, kEnd, tables, where);
}

}  // namespace lengthwise
