#include "ranking/comparison.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "core/error.h"
#include "ranking/caveats.h"
#include "ranking/totals.h"

namespace lengthwise {
namespace {

class Comparer {
 public:
  Comparer(const std::vector<Score>& scores, const CompareOptions& options)
      : table_(make_score_table(scores)), root_(Rng(kSeed).stream("bootstrap")) {
    result_.options = options;
    result_.encodings = table_.encodings;
    result_.categories = table_.categories;
    result_.queries = table_.encodings.size() < 2 ? 0 : table_.count_complete();
    result_.dropped = table_.encodings.size() < 2 ? 0 : table_.count_incomplete();
    for (const Score& score : scores) result_.counted = result_.counted || score.longer.known();
    result_.resampled = options.resamples > 0 && (result_.counted || table_.most_seeds() > 1);
    const Sample observed = observed_sample(table_);
    longer_ = observed.longer;
    observed_ = totals_of(table_, observed, options.ties);
    const Resampler resampler(table_);
    const Rng rng = root_.stream("totals");
    for (int64_t r = 0; r < options.resamples; ++r) {
      replicates_.push_back(totals_of(table_, resampler.draw(rng.at(static_cast<uint64_t>(r))), options.ties));
    }
  }

  Comparison compare() {
    add_splits();
    add_cells();
    add_ranking();
    add_pairs();
    add_caveats(result_);
    return std::move(result_);
  }

 private:
  static constexpr uint64_t kSeed = 20231210;

  std::optional<Estimate> estimate(const std::function<double(const Totals&)>& statistic) const {
    const double value = statistic(observed_);
    if (std::isnan(value)) return std::nullopt;
    std::vector<double> replicates;
    for (const Totals& totals : replicates_) replicates.push_back(statistic(totals));
    return percentile_interval(value, std::move(replicates));
  }

  void add_splits() {
    for (const SplitScores& split : table_.splits) {
      ComparedSplit& added =
          result_.splits.emplace_back(ComparedSplit{split.name, split.category, {}, {}, split.ranked});
      for (const Query& query : split.queries) {
        added.seeds.push_back(query.seed);
        for (const Score* score : query.scores) {
          if (score != nullptr && score->train_limit) {
            added.train_limit = std::max(added.train_limit.value_or(0), *score->train_limit);
          }
        }
      }
    }
  }

  void add_cells() {
    for (size_t s = 0; s < table_.splits.size(); ++s) {
      const Rng rng = root_.stream("lengths").stream(table_.splits[s].name);
      for (size_t e = 0; e < table_.encodings.size(); ++e) add_cell(s, e, rng);
    }
  }

  void add_cell(size_t s, size_t e, const Rng& rng) {
    std::vector<const Score*> runs;
    bool lengths = true;
    for (const Query& query : table_.splits[s].queries) {
      if (query.scores[e] == nullptr) continue;
      runs.push_back(query.scores[e]);
      lengths = lengths && !query.scores[e]->lengths.empty();
    }
    if (runs.empty()) return;
    ComparedCell cell;
    cell.split = s;
    cell.encoding = e;
    cell.seeds = runs.size();
    cell.longer = *estimate([&](const Totals& totals) { return totals.split_longer[s][e]; });
    cell.trained = estimate([&](const Totals& totals) { return totals.split_trained[s][e]; });
    for (const Score* run : runs) {
      if (run->trained.known() && run->trained.share() < result_.options.fit) cell.unfit_seeds.push_back(run->seed);
    }
    if (lengths) cell.curve = length_curve(runs, result_.options.resamples, rng);
    result_.cells.push_back(std::move(cell));
  }

  void add_ranking() {
    for (size_t e = 0; e < table_.encodings.size(); ++e) {
      RankedEncoding ranked;
      ranked.encoding = e;
      const bool several = table_.encodings.size() > 1;
      if (several) ranked.mrr = estimate([&](const Totals& totals) { return totals.mrr[e]; });
      ranked.longer = estimate([&](const Totals& totals) { return totals.longer[e]; });
      ranked.trained = estimate([&](const Totals& totals) { return totals.trained[e]; });
      for (size_t c = 0; c < table_.categories.size(); ++c) {
        ranked.category_mrr.push_back(
            several ? estimate([&](const Totals& totals) { return totals.category_mrr[c][e]; }) : std::nullopt);
        ranked.category_longer.push_back(estimate([&](const Totals& totals) { return totals.category_longer[c][e]; }));
      }
      result_.ranking.push_back(std::move(ranked));
    }
    const auto value = [](const std::optional<Estimate>& number) { return number ? number->value : -1.0; };
    std::stable_sort(result_.ranking.begin(), result_.ranking.end(),
                     [&](const RankedEncoding& a, const RankedEncoding& b) {
                       if (value(a.mrr) != value(b.mrr)) return value(a.mrr) > value(b.mrr);
                       return value(a.longer) > value(b.longer);
                     });
  }

  void add_pairs() {
    for (size_t i = 0; i < result_.ranking.size(); ++i) {
      for (size_t j = i + 1; j < result_.ranking.size(); ++j) {
        add_pair(result_.ranking[i].encoding, result_.ranking[j].encoding);
      }
    }
    std::vector<size_t> order(result_.pairs.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return result_.pairs[a].test.p < result_.pairs[b].test.p; });
    double largest = 0;
    for (size_t k = 0; k < order.size(); ++k) {
      ComparedPair& pair = result_.pairs[order[k]];
      largest = std::max(largest, std::min(1.0, static_cast<double>(order.size() - k) * pair.test.p));
      pair.holm = largest;
    }
  }

  void add_pair(size_t better, size_t worse) {
    const std::vector<double> differences = paired_differences(table_, longer_, better, worse);
    if (differences.empty()) return;
    ComparedPair pair;
    pair.better = better;
    pair.worse = worse;
    // Totals keep each difference once, as the earlier encoding minus the later one.
    const size_t a = std::min(better, worse);
    const size_t b = std::max(better, worse);
    const double sign = better == a ? 1 : -1;
    pair.difference = *estimate([&](const Totals& totals) { return sign * totals.differences[a][b]; });
    pair.test = sign_flip_test(differences, root_.stream("sign flips").at(better * table_.encodings.size() + worse));
    result_.pairs.push_back(pair);
  }

  const ScoreTable table_;
  const Rng root_;
  Accuracies longer_;
  Totals observed_;
  std::vector<Totals> replicates_;
  Comparison result_;
};

}  // namespace

const ComparedCell* Comparison::cell(size_t split, size_t encoding) const {
  for (const ComparedCell& one : cells) {
    if (one.split == split && one.encoding == encoding) return &one;
  }
  return nullptr;
}

Comparison compare_scores(const std::vector<Score>& scores, const CompareOptions& options) {
  if (options.resamples < 0 || options.resamples > 100'000) {
    fail("--resamples must be between 0 and 100000, not {}", options.resamples);
  }
  if (!(options.fit >= 0 && options.fit <= 1)) fail("--fit must be between 0 and 1, not {}", options.fit);
  return Comparer(scores, options).compare();
}

}  // namespace lengthwise
