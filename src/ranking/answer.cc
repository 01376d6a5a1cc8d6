#include "ranking/answer.h"

#include <algorithm>

#include "core/counted.h"
#include "core/text.h"

namespace lengthwise {
namespace {

/// Below this share of longer problems nobody would say that an encoding works.
constexpr double kWorks = 0.01;

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

class Writer {
 public:
  explicit Writer(const Comparison& comparison) : comparison_(comparison) {}

  std::string write() const {
    if (comparison_.runs == 0) return "No run has finished yet, so there is no answer.";
    if (comparison_.ranking.empty()) {
      return fmt::format("None of {} reached an accuracy of {} on its training lengths; all were left out.",
                         counted(comparison_.runs, "run"), comparison_.fit());
    }
    const RankedEncoding& most = most_accurate();
    if (!most.longer) {
      return "No test example is longer than any in training, so nothing follows about longer sequences." + caution();
    }
    if (comparison_.unfit == comparison_.runs) {
      return fmt::format(
          "No run fitted its training lengths, so nothing follows about longer ones; {} solves {} of the longer "
          "problems.",
          label(most), percent(most.longer->value));
    }
    if (comparison_.ranking.size() == 1) return alone();
    if (!comparison_.ranking.front().mrr) {
      return fmt::format(
                 "No comparison has all {} encodings, so there is no ranking; {} solves the most longer "
                 "problems where it was tried, {}.",
                 comparison_.encodings.size(), label(most), percent(most.longer->value)) +
             caution();
    }
    if (most.longer->value < kWorks) {
      return fmt::format(
                 "No encoding works on longer sequences here: the best, {}, solves {} of the longer problems{}.",
                 label(most), percent(most.longer->value), scope()) +
             caution();
    }
    return ranked(most) + caution();
  }

 private:
  std::string label(const RankedEncoding& ranked) const { return comparison_.labels[ranked.encoding]; }

  const RankedEncoding& most_accurate() const {
    return *std::max_element(comparison_.ranking.begin(), comparison_.ranking.end(),
                             [](const RankedEncoding& a, const RankedEncoding& b) {
                               return (a.longer ? a.longer->value : -1) < (b.longer ? b.longer->value : -1);
                             });
  }

  std::string scope() const {
    size_t splits = 0;
    for (const ComparedSplit& split : comparison_.splits) splits += split.ranked && split.longer ? 1 : 0;
    if (comparison_.queries == 1) return ", in the one comparison there is";
    return fmt::format(", over {} on {}", counted(comparison_.queries, "comparison"),
                       counted(splits, split_noun(comparison_)));
  }

  std::string alone() const {
    const RankedEncoding& only = comparison_.ranking.front();
    std::string text = fmt::format("{} solves {} of the problems that are longer than those it was trained on",
                                   label(only), percent(only.longer->value));
    if (only.trained) text += fmt::format(", and {} of those that are not", percent(only.trained->value));
    return text + ". With one encoding there is nothing to rank." + caution();
  }

  std::string ranked(const RankedEncoding& most) const {
    const RankedEncoding& first = comparison_.ranking[0];
    const RankedEncoding& second = comparison_.ranking[1];
    if (first.mrr->value == second.mrr->value && first.longer->value == second.longer->value) {
      return fmt::format(
          "{} and {} come out even: both have a mean reciprocal rank of {:.2f} and solve {} of the "
          "longer problems{}.",
          label(first), label(second), first.mrr->value, percent(first.longer->value), scope());
    }
    if (&most != &first) {
      return fmt::format(
          "{} ranks best most often on longer sequences (mean reciprocal rank {:.2f}{}), but {} solves "
          "more of the longer problems on average: {} against {}.",
          label(first), first.mrr->value, scope(), label(most), percent(most.longer->value),
          percent(first.longer->value));
    }
    return fmt::format(
        "{} works best on longer sequences{}: it solves {} of the longer problems with a mean "
        "reciprocal rank of {:.2f}, ahead of {} with {} and {:.2f}{}.",
        label(first), scope(), percent(first.longer->value), first.mrr->value, label(second),
        percent(second.longer->value), second.mrr->value, significance(first, second));
  }

  /// Corrected for the number of pairs: the best of many is ahead by chance more often than one of two.
  std::string significance(const RankedEncoding& first, const RankedEncoding& second) const {
    if (comparison_.encodings.size() > kMostPairedEncodings) return ", a lead that was not tested";
    for (const ComparedPair& pair : comparison_.pairs) {
      if (pair.better != first.encoding || pair.worse != second.encoding) continue;
      constexpr double kLeast = 0.0001;
      std::string test = pair.holm < kLeast ? fmt::format("paired test: p < {}", kLeast)
                                            : fmt::format("paired test: p = {:.2g}", pair.holm);
      if (comparison_.pairs.size() > 1) test += fmt::format(", corrected for {} pairs", comparison_.pairs.size());
      return pair.holm < 0.05 ? fmt::format(" ({})", test) : fmt::format(", a lead that could be chance ({})", test);
    }
    return "";
  }

  std::string caution() const {
    if (comparison_.unfit == 0) return "";
    const char* fate = comparison_.options.fit           ? "left out"
                       : comparison_.ranking.size() == 1 ? "counted all the same"
                                                         : "ranked like the others";
    return fmt::format(" {} of {} did not fit the training lengths (accuracy below {} on them) and {} {}.",
                       comparison_.unfit, counted(comparison_.runs, "run"), comparison_.fit(),
                       comparison_.unfit == 1 ? "is" : "are", fate);
  }

  const Comparison& comparison_;
};

}  // namespace

const char* split_noun(const Comparison& comparison) {
  // Anybody's splits have no training limit; ours name what varies besides the task with `=`.
  const bool tasks = std::all_of(comparison.splits.begin(), comparison.splits.end(), [](const ComparedSplit& split) {
    return split.train_limit && split.name.find('=') == std::string::npos;
  });
  return tasks ? "task" : "split";
}

std::string answer_of(const Comparison& comparison) {
  return Writer(comparison).write();
}

}  // namespace lengthwise
