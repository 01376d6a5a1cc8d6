#include "ranking/caveats.h"

#include <algorithm>

#include "core/text.h"
#include "results/encoding_names.h"

namespace lengthwise {
namespace {

void warn_unfit(Comparison& comparison) {
  for (const ComparedCell& cell : comparison.cells) {
    if (cell.unfit_seeds.empty() || !cell.trained) continue;
    comparison.warnings.push_back(fmt::format(
        "{} did not fit the training lengths of {}: {:.3f} on them, below {:.2f} in {} of {} seeds. What it does on "
        "longer ones means nothing.",
        encoding_label(comparison.encodings[cell.encoding]), comparison.splits[cell.split].name, cell.trained->value,
        comparison.options.fit, cell.unfit_seeds.size(), cell.seeds));
  }
}

void warn_incomplete(Comparison& comparison) {
  if (comparison.dropped == 0) return;
  const char* remedy = comparison.queries == 0 ? " Nothing is left to rank; compare fewer encodings with --encodings."
                                               : " Their runs still count in the accuracies.";
  comparison.warnings.push_back(
      fmt::format("{} of {} comparisons (split and seed) lack an encoding and are left out of the ranking.{}",
                  comparison.dropped, comparison.dropped + comparison.queries, remedy));
}

void note_seeds(Comparison& comparison) {
  size_t fewest = SIZE_MAX;
  size_t most = 0;
  for (const ComparedSplit& split : comparison.splits) {
    fewest = std::min(fewest, split.seeds.size());
    most = std::max(most, split.seeds.size());
  }
  if (comparison.splits.empty()) return;
  if (most == 1) {
    comparison.notes.emplace_back(
        comparison.counted
            ? "With one seed, intervals cover the choice of examples alone; how much a result moves from seed to seed "
              "needs at least three seeds."
            : "With one seed and no counts of examples there is nothing to resample: intervals need more seeds.");
  } else {
    comparison.notes.push_back(fmt::format(
        "Intervals are 95 % percentile bootstraps over {} ({} resamples){}.",
        comparison.counted ? "seeds and examples" : "seeds; examples were not counted", comparison.options.resamples,
        fewest < 5 ? "; with so few seeds they are somewhat too narrow" : ""));
  }
}

void note_tests(Comparison& comparison) {
  if (comparison.pairs.empty()) return;
  size_t most = 0;
  double smallest = 1;
  for (const ComparedPair& pair : comparison.pairs) {
    most = std::max(most, static_cast<size_t>(pair.test.queries));
    smallest = std::min(smallest, pair.test.smallest_p);
  }
  if (smallest <= 0.05) return;
  comparison.notes.push_back(
      fmt::format("With {} the paired test cannot give a p below {:.2g}; six pairs (splits times seeds) are the least "
                  "that can reach 0.05.",
                  most == 1 ? std::string("one pair of runs") : fmt::format("{} pairs of runs", most), smallest));
}

void note_scratchpads(Comparison& comparison) {
  const bool apart = std::any_of(comparison.splits.begin(), comparison.splits.end(),
                                 [](const ComparedSplit& split) { return !split.ranked; });
  if (!apart) return;
  comparison.notes.emplace_back(
      "As in the study, the overall ranking is made of the runs without scratchpad; those with one are categories of "
      "their own.");
}

}  // namespace

void add_caveats(Comparison& comparison) {
  warn_unfit(comparison);
  warn_incomplete(comparison);
  if (comparison.encodings.size() == 1) comparison.notes.emplace_back("A ranking needs at least two encodings.");
  note_scratchpads(comparison);
  note_seeds(comparison);
  note_tests(comparison);
}

}  // namespace lengthwise
