#include "ledger/paper_table.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/marked_part.h"
#include "core/text.h"
#include "ledger/paper_runs.h"
#include "ledger/published.h"
#include "ranking/reciprocal_rank.h"
#include "results/encoding_names.h"
#include "tasks/registry.h"

namespace lengthwise {
namespace {

constexpr std::string_view kBegin = "<!-- the table of results/paper begins: written by `lengthwise ledger table` -->";
constexpr std::string_view kEnd = "<!-- the table of results/paper ends -->";

/// `.968`, as the study writes shares.
std::string share(double value) {
  const std::string text = fmt::format("{:.3f}", value);
  return text.starts_with("0.") ? text.substr(1) : text;
}

std::string header(const std::string& first) {
  std::string names = "| " + first + " |";
  std::string rule = "|---|";
  for (const std::string& encoding : published_encodings()) {
    names += " " + encoding_label(encoding) + " |";
    rule += "---|";
  }
  return names + "\n" + rule + "\n";
}

std::string cell_text(const PaperCell* ours, const std::optional<PublishedAccuracy>& published) {
  std::string text = "–";
  if (ours != nullptr) {
    text = "**" + share(ours->longer_mean()) + "**";
    if (ours->longer.size() > 1) text += " ± " + share(ours->longer_deviation());
    text += fmt::format(" ({})", ours->longer.size());
  }
  if (!published) return text;
  text += "<br>" + share(published->mean);
  if (published->deviation > 0) text += " ± " + share(published->deviation);
  if (ours != nullptr) text += fmt::format(" ({:+.1f})", published->distance(ours->longer_mean()));
  return text;
}

std::string accuracies(const PaperRuns& runs) {
  std::string text = header("split");
  for (const std::string& split : runs.splits()) {
    text += "| " + split + " |";
    for (const std::string& encoding : published_encodings())
      text += " " + cell_text(runs.cell(split, encoding), published_accuracy(split, encoding)) + " |";
    text += "\n";
  }
  return text +
         "\nFirst line of a cell: ours, mean and standard deviation over seeds (number of seeds). Second line: the "
         "published value where it is known, and in brackets how many published deviations ours lies above or below "
         "it; where none was published, half of the last digit stands for it.\n";
}

std::string agreement(const PaperRuns& runs) {
  size_t compared = 0;
  size_t within_two = 0;
  size_t within_three = 0;
  std::vector<std::string> further;
  for (const auto& [key, ours] : runs.cells()) {
    const std::optional<PublishedAccuracy> published = published_accuracy(key.first, key.second);
    if (!published) continue;
    const double distance = published->distance(ours.longer_mean());
    ++compared;
    within_two += std::abs(distance) <= 2 ? 1 : 0;
    within_three += std::abs(distance) <= 3 ? 1 : 0;
    if (std::abs(distance) > 3)
      further.push_back(fmt::format("{} {} ({:+.1f})", key.first, encoding_label(key.second), distance));
  }
  std::string text = fmt::format(
      "{} of {} cells, {} of {} runs. Of the {} cells here whose published value is known {} lie within two published "
      "deviations, {} within three.",
      runs.cells().size(), runs.splits().size() * published_encodings().size(), runs.runs().size(), kPublishedRuns,
      compared, within_two, within_three);
  if (!further.empty()) text += " Further away: " + join(further, ", ") + ".";
  return text + "\n";
}

/// Sums of reciprocal ranks, and over how many queries.
struct RankSum {
  size_t queries = 0;
  std::vector<double> sums = std::vector<double>(published_encodings().size(), 0);
};

std::string reciprocal_ranks(const PaperRuns& runs) {
  const std::vector<std::string>& encodings = published_encodings();
  std::vector<int> rows;
  for (const std::string& encoding : encodings) rows.push_back(published_row(encoding));
  std::map<std::string, RankSum> categories;
  for (const PaperRuns::Query& query : runs.queries()) {
    const std::vector<double> ranks = ranks_of(query.accuracies, Ties::kPaper, rows);
    for (const std::string& category : {std::string(), find_task(query.split).info().group}) {
      RankSum& sum = categories[category];
      ++sum.queries;
      for (size_t i = 0; i < ranks.size(); ++i) sum.sums[i] += 1 / ranks[i];
    }
  }
  std::string text = header("mean reciprocal rank");
  for (const std::string category : {"", "primitive", "reasoning", "classic"}) {
    const RankSum& sum = categories[category];
    text += fmt::format("| {} ({}) |", category.empty() ? "overall" : category, sum.queries);
    for (size_t i = 0; i < encodings.size(); ++i) {
      text += sum.queries == 0 ? " –" : " **" + share(sum.sums[i] / static_cast<double>(sum.queries)) + "**";
      text += " / " + share(published_reciprocal_rank(category, encodings[i]).value()) + " |";
    }
    text += "\n";
  }
  return text + fmt::format(
                    "\nOurs / published. In brackets how many splits and seeds with all five encodings are here, of {} "
                    "in all; ties go by the published row order.\n",
                    runs.splits().size() * kPublishedSeeds);
}

std::string fit(const PaperRuns& runs) {
  constexpr double kFitted = 0.99;
  std::vector<std::string> below;
  for (const auto& [key, ours] : runs.cells()) {
    if (!ours.trained.empty() && ours.trained_mean() < kFitted)
      below.push_back(fmt::format("{} {} {}", key.first, encoding_label(key.second), share(ours.trained_mean())));
  }
  return fmt::format("On the training lengths every cell has at least {}{}.\n", share(kFitted),
                     below.empty() ? "" : ", but for " + join(below, ", "));
}

std::string costs(const PaperRuns& runs) {
  double seconds = 0;
  std::set<std::string> machines;
  std::set<std::string> commits;
  std::set<std::string> precisions;
  for (const LedgerEntry* run : runs.runs()) {
    seconds += run->machine_seconds;
    machines.insert(run->machine);
    commits.insert("`" + run->commit + "`");
    precisions.insert(run->option("precision"));
  }
  const auto list = [](const std::set<std::string>& names) {
    return join(std::vector<std::string>(names.begin(), names.end()), ", ");
  };
  const auto count = static_cast<double>(runs.runs().size());
  std::string text = fmt::format(
      "These {} runs took {:.2f} hours of {} ({:.1f} minutes each), in {}; the study's {} took about {:.0f} hours of "
      "an A100, as many of them as are here about {:.0f}. Commits: {}.\n",
      runs.runs().size(), seconds / 3600, list(machines), seconds / 60 / count, list(precisions), kPublishedRuns,
      kPublishedGpuHours, kPublishedGpuHours / kPublishedRuns * count, list(commits));
  const auto given =
      std::count_if(runs.runs().begin(), runs.runs().end(), [](const LedgerEntry* run) { return !run->recorded; });
  if (given > 0) text += fmt::format("\nOf {} runs commit and machine were stated by whoever added them.\n", given);
  if (runs.left_out() > 0)
    text += fmt::format("\nThe ledger holds {} more that are no part of the study's table.\n", runs.left_out());
  return text;
}

}  // namespace

std::string paper_table(const std::vector<LedgerEntry>& entries) {
  const PaperRuns runs(entries);
  return join({accuracies(runs), agreement(runs), reciprocal_ranks(runs), fit(runs), costs(runs)}, "\n");
}

std::string with_table(const std::string& document, const std::string& table, const std::string& where) {
  return with_marked_part(document, kBegin, kEnd, table, where);
}

}  // namespace lengthwise
