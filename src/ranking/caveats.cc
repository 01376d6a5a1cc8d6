#include "ranking/caveats.h"

#include <algorithm>

#include "core/text.h"

namespace lengthwise {
namespace {

std::string runs_text(size_t count) {
  return fmt::format("{} {}", count, count == 1 ? "run" : "runs");
}

std::string limit_text(const ComparedSplit& split) {
  return split.train_limit ? fmt::format(" (up to {})", *split.train_limit) : "";
}

void warn_unfit(Comparison& comparison) {
  if (comparison.unfit == 0) return;
  if (comparison.options.fit) {
    comparison.warnings.push_back(fmt::format(
        "{} of {} did not fit the training lengths, with an accuracy below {} on them, and {} left out.",
        comparison.unfit, runs_text(comparison.runs), comparison.fit(), comparison.unfit == 1 ? "is" : "are"));
    for (const LeftOut& left_out : comparison.left_out) {
      comparison.warnings.push_back(fmt::format("Left out: {} on {}, seed{} {}.",
                                                comparison.label_of(left_out.encoding), left_out.split,
                                                left_out.seeds.size() == 1 ? "" : "s", join(left_out.seeds, ", ")));
    }
    return;
  }
  comparison.warnings.push_back(fmt::format(
      "{} of {} did not fit the training lengths, with an accuracy below {} on them, and {} ranked like the others; "
      "--fit {} leaves such runs out.",
      comparison.unfit, runs_text(comparison.runs), comparison.fit(), comparison.unfit == 1 ? "is" : "are",
      comparison.fit()));
  for (const ComparedCell& cell : comparison.cells) {
    if (cell.unfit_seeds.empty() || !cell.trained) continue;
    comparison.warnings.push_back(fmt::format(
        "{} did not fit the training lengths of {}: {:.3f} on them, below {:.2f} in {} of {} seeds. What it does on "
        "longer ones means nothing.",
        comparison.labels[cell.encoding], comparison.splits[cell.split].name, cell.trained->value, comparison.fit(),
        cell.unfit_seeds.size(), cell.seeds));
  }
}

/// What is called longer must be.
void warn_not_longer(Comparison& comparison) {
  for (const ComparedSplit& split : comparison.splits) {
    if (!split.longer) {
      comparison.warnings.push_back(
          split.tested == 0
              ? fmt::format("{} has no test examples and is not ranked.", split.name)
              : fmt::format("No test example of {} is longer than any in training{}: it is shown and not ranked.",
                            split.name, limit_text(split)));
    } else if (split.inside > 0 && split.category != "text") {  // a text is measured at the trained context on purpose
      comparison.warnings.push_back(
          fmt::format("{} of {} test examples of {} are not longer than any in training{}: they are shown as such and "
                      "do not count.",
                      split.inside, split.tested, split.name, limit_text(split)));
    }
    if (split.unlimited) {
      comparison.notes.push_back(fmt::format(
          "Nobody says how long the training examples of {} were; all its test examples count as longer.", split.name));
    }
  }
  for (const ComparedCell& cell : comparison.cells) {
    if (cell.without_longer == 0 || !comparison.splits[cell.split].longer) continue;
    comparison.warnings.push_back(fmt::format("{} on {} has no longer test examples in {} of {} seeds.",
                                              comparison.labels[cell.encoding], comparison.splits[cell.split].name,
                                              cell.without_longer, cell.seeds));
  }
}

void note_tuning(Comparison& comparison) {
  if (comparison.choices.empty()) return;
  comparison.notes.emplace_back(
      "Tuned options were chosen by the accuracy on validation examples (mean over seeds, then the lower loss), for "
      "every encoding on every split; the other runs do not count.");
  for (const TunedChoice& choice : comparison.choices) {
    const TriedValue& chosen = choice.tried[choice.chosen];
    const std::string where = fmt::format("{} on {}", comparison.label_of(choice.encoding), choice.split);
    if (!chosen.known) {
      comparison.warnings.push_back(fmt::format(
          "{} has no validation examples to choose by; {}, which came first, counts.", where, chosen.value));
    } else if (std::any_of(choice.tried.begin(), choice.tried.end(),
                           [&](const TriedValue& tried) { return tried.seeds != chosen.seeds; })) {
      comparison.warnings.push_back(
          fmt::format("{}: not all values were tried with as many seeds, so the choice of {} is not even-handed.",
                      where, chosen.value));
    }
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
  if (comparison.options.resamples < comparison.resamples_asked) {
    comparison.notes.push_back(fmt::format("With so many results intervals are made of {} resamples instead of {}.",
                                           comparison.options.resamples, comparison.resamples_asked));
  }
}

void note_tests(Comparison& comparison) {
  if (comparison.encodings.size() > kMostPairedEncodings) {
    comparison.notes.push_back(fmt::format("With {} encodings there are no paired tests; up to {} have them.",
                                           comparison.encodings.size(), kMostPairedEncodings));
  }
  if (comparison.pairs.empty()) return;
  const size_t pairs = comparison.pairs.size();
  int64_t most = 0;
  double smallest = 1;
  for (const ComparedPair& pair : comparison.pairs) {
    most = std::max(most, pair.test.queries);
    smallest = std::min(smallest, smallest_corrected(pair.test, pairs));
  }
  constexpr double kLevel = 0.05;
  if (smallest <= kLevel) return;
  int64_t needed = 1;
  while (2 * static_cast<double>(pairs) > kLevel * static_cast<double>(int64_t{1} << needed)) ++needed;
  comparison.notes.push_back(fmt::format(
      "With {} the paired test cannot give a p below {:.2g}{}; {} pairs of runs (splits times seeds) are the least "
      "that can reach {}.",
      most == 1 ? std::string("one pair of runs") : fmt::format("{} pairs of runs", most), smallest,
      pairs == 1 ? "" : fmt::format(", corrected for {} pairs of encodings", pairs), needed, kLevel));
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
  warn_not_longer(comparison);
  warn_incomplete(comparison);
  note_tuning(comparison);
  if (comparison.encodings.size() == 1) comparison.notes.emplace_back("A ranking needs at least two encodings.");
  note_scratchpads(comparison);
  note_seeds(comparison);
  note_tests(comparison);
}

}  // namespace lengthwise
