#include "ranking/comparison.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "core/error.h"
#include "ranking/caveats.h"
#include "ranking/resamples.h"
#include "results/encoding_names.h"

namespace lengthwise {
namespace {

bool is_unfit(const Score& score, double fit) {
  // No model of a text knows every next token.
  return score.category != "text" && score.trained.known() && score.trained.share() < fit;
}

/// Removes the runs that did not fit and says which.
std::vector<LeftOut> leave_out_unfit(double fit, std::vector<const Score*>& scores) {
  std::vector<LeftOut> left_out;
  std::unordered_map<std::string, size_t> places;
  std::erase_if(scores, [&](const Score* score) {
    if (!is_unfit(*score, fit)) return false;
    const size_t place = places.try_emplace(score->split + '\n' + score->encoding, left_out.size()).first->second;
    if (place == left_out.size()) left_out.push_back({score->split, score->encoding, {}});
    left_out[place].seeds.push_back(score->seed);
    return true;
  });
  return left_out;
}

class Comparer {
 public:
  Comparer(const std::vector<const Score*>& scores, Comparison begun)
      : table_(make_score_table(scores)), root_(Rng(kSeed).stream("bootstrap")), result_(std::move(begun)) {
    result_.encodings = table_.encodings;
    result_.labels = table_.labels;
    result_.families = table_.families;
    result_.categories = table_.categories;
    const bool several = table_.encodings.size() > 1;
    result_.queries = several ? table_.count_complete() : 0;
    result_.dropped = several ? table_.count_incomplete() : 0;
    int64_t drawn = 0;
    for (const Score* score : scores) {
      result_.counted = result_.counted || score->longer.known();
      drawn += 1 + std::ssize(score->lengths);
    }
    int64_t& resamples = result_.options.resamples;
    resamples = affordable_resamples(resamples, drawn);
    result_.resampled = resamples > 0 && (result_.counted || table_.most_seeds() > 1);
    const Replicates empty(static_cast<size_t>(resamples));
    mrr_.assign(table_.encodings.size(), empty);
    longer_ = trained_ = mrr_;
    if (several && table_.encodings.size() <= kMostPairedEncodings) {
      pairs_.assign(table_.encodings.size(), std::vector<Replicates>(table_.encodings.size(), empty));
    }
  }

  Comparison compare() {
    add_splits();
    result_.ranking.resize(table_.encodings.size());
    cells_.resize(table_.splits.size());
    std::unordered_map<std::string, std::vector<size_t>> of_category;
    for (size_t s = 0; s < table_.splits.size(); ++s) of_category[table_.splits[s].category].push_back(s);
    for (const std::string& category : table_.categories) add_category(of_category[category]);
    for (std::vector<ComparedCell>& cells : cells_)
      std::move(cells.begin(), cells.end(), std::back_inserter(result_.cells));
    rank();
    add_pairs();
    add_caveats(result_);
    return std::move(result_);
  }

 private:
  static constexpr uint64_t kSeed = 20231210;

  size_t resamples() const { return static_cast<size_t>(result_.options.resamples); }

  void add_splits() {
    for (const SplitScores& split : table_.splits) {
      ComparedSplit& added = result_.splits.emplace_back();
      added.name = split.name;
      added.category = split.category;
      added.ranked = split.ranked;
      added.longer = split.longer;
      for (const Query& query : split.queries) {
        added.seeds.push_back(query.seed);
        for (const Score* score : query.scores) {
          if (score == nullptr) continue;
          if (score->train_limit) added.train_limit = std::max(added.train_limit.value_or(0), *score->train_limit);
          added.inside += score->inside.count;
          added.tested += score->inside.count + score->longer.count;
          added.unlimited = added.unlimited || (!score->lengths.empty() && !score->train_limit);
        }
      }
    }
  }

  /// Split by split, so that only sums over splits are kept in every resample.
  void add_category(const std::vector<size_t>& splits) {
    std::vector<Replicates> mrr(table_.encodings.size(), Replicates(resamples()));
    std::vector<Replicates> longer = mrr;
    for (const size_t s : splits) {
      const SplitScores& split = table_.splits[s];
      const SplitReplicates replicates =
          resample_split(table_, split, resamples(), result_.options.ties,
                         root_.stream("totals").stream(split.category + '\n' + split.name),
                         split.ranked && !pairs_.empty() ? &pairs_ : nullptr);
      const Rng rng = root_.stream("lengths").stream(split.name);
      for (size_t e = 0; e < table_.encodings.size(); ++e) {
        mrr[e].add(replicates.reciprocal[e]);
        longer[e].add_mean(replicates.longer[e]);
        if (split.ranked) {
          mrr_[e].add(replicates.reciprocal[e]);
          longer_[e].add_mean(replicates.longer[e]);
          trained_[e].add_mean(replicates.trained[e]);
        }
        add_cell(s, e, replicates, rng);
      }
    }
    for (size_t e = 0; e < table_.encodings.size(); ++e) {
      result_.ranking[e].category_mrr.push_back(mrr[e].estimate());
      result_.ranking[e].category_longer.push_back(longer[e].estimate());
    }
  }

  void add_cell(size_t s, size_t e, const SplitReplicates& replicates, const Rng& rng) {
    std::vector<const Score*> runs;
    for (const Query& query : table_.splits[s].queries) {
      if (query.scores[e] != nullptr) runs.push_back(query.scores[e]);
    }
    if (runs.empty()) return;
    ComparedCell cell;
    cell.split = s;
    cell.encoding = e;
    cell.seeds = runs.size();
    cell.longer = replicates.longer[e].estimate();
    cell.trained = replicates.trained[e].estimate();
    bool lengths = true;
    double inside = 0;
    size_t with_inside = 0;
    for (const Score* run : runs) {
      lengths = lengths && !run->lengths.empty();
      if (!run->accuracy) ++cell.without_longer;
      if (is_unfit(*run, result_.fit())) cell.unfit_seeds.push_back(run->seed);
      if (!run->inside.known()) continue;
      inside += run->inside.share();
      ++with_inside;
    }
    if (with_inside > 0) cell.inside = inside / static_cast<double>(with_inside);
    if (lengths) cell.curve = length_curve(runs, result_.options.resamples, rng);
    cells_[s].push_back(std::move(cell));
  }

  void rank() {
    for (size_t e = 0; e < table_.encodings.size(); ++e) {
      RankedEncoding& ranked = result_.ranking[e];
      ranked.encoding = e;
      ranked.mrr = mrr_[e].estimate();
      ranked.longer = longer_[e].estimate();
      ranked.trained = trained_[e].estimate();
    }
    const auto value = [](const std::optional<Estimate>& number) { return number ? number->value : -1.0; };
    std::stable_sort(result_.ranking.begin(), result_.ranking.end(),
                     [&](const RankedEncoding& a, const RankedEncoding& b) {
                       if (value(a.mrr) != value(b.mrr)) return value(a.mrr) > value(b.mrr);
                       return value(a.longer) > value(b.longer);
                     });
  }

  void add_pairs() {
    if (pairs_.empty()) return;
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
    std::vector<double> differences;
    for (const SplitScores& split : table_.splits) {
      if (!split.ranked) continue;
      for (const Query& query : split.queries) {
        const Score* a = query.scores[better];
        const Score* b = query.scores[worse];
        if (a != nullptr && b != nullptr && a->accuracy && b->accuracy) {
          differences.push_back(*a->accuracy - *b->accuracy);
        }
      }
    }
    if (differences.empty()) return;
    ComparedPair pair;
    pair.better = better;
    pair.worse = worse;
    // Each difference is kept once, as the earlier encoding minus the later one.
    pair.difference = *pairs_[std::min(better, worse)][std::max(better, worse)].estimate(better < worse ? 1 : -1);
    pair.test = sign_flip_test(differences, root_.stream("sign flips").at(better * table_.encodings.size() + worse));
    result_.pairs.push_back(pair);
  }

  const ScoreTable table_;
  const Rng root_;
  Comparison result_;
  std::vector<Replicates> mrr_, longer_, trained_;  ///< [encoding] over ranked splits
  PairReplicates pairs_;                            ///< empty: too many, or nothing to compare
  std::vector<std::vector<ComparedCell>> cells_;    ///< [split]
};

}  // namespace

std::string Comparison::label_of(const std::string& encoding) const {
  const auto found = std::find(encodings.begin(), encodings.end(), encoding);
  return found == encodings.end() ? encoding_label(encoding) : labels[static_cast<size_t>(found - encodings.begin())];
}

const ComparedCell* Comparison::cell(size_t split, size_t encoding) const {
  for (const ComparedCell& one : cells) {
    if (one.split == split && one.encoding == encoding) return &one;
  }
  return nullptr;
}

const TunedChoice* Comparison::choice(const std::string& split, const std::string& encoding) const {
  for (const TunedChoice& one : choices) {
    if (one.split == split && one.encoding == encoding) return &one;
  }
  return nullptr;
}

int64_t affordable_resamples(int64_t asked, int64_t results) {
  return std::min(asked, std::max(kFewestResamples, kMostDraws / std::max<int64_t>(1, results)));
}

Comparison compare_scores(const std::vector<Score>& scores, const CompareOptions& options) {
  if (options.resamples < 0 || options.resamples > 100'000) {
    fail("--resamples must be between 0 and 100000, not {}", options.resamples);
  }
  if (options.fit && !(*options.fit >= 0 && *options.fit <= 1)) {
    fail("--fit must be between 0 and 1, not {}", *options.fit);
  }
  std::vector<const Score*> compared;
  compared.reserve(scores.size());
  for (const Score& score : scores) compared.push_back(&score);
  Comparison begun;
  begun.options = options;
  begun.resamples_asked = options.resamples;
  begun.choices = choose_tuned(compared);
  begun.runs = compared.size();
  for (const Score* score : compared) begun.unfit += is_unfit(*score, begun.fit()) ? 1 : 0;
  if (options.fit) begun.left_out = leave_out_unfit(*options.fit, compared);
  return Comparer(compared, std::move(begun)).compare();
}

}  // namespace lengthwise
