#include "ranking/resamples.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "ranking/share_sampler.h"

namespace lengthwise {
namespace {

/// A run, ready to be drawn from.
struct Cell {
  double longer = 0;
  const ShareSampler* longer_share = nullptr;  ///< null: examples were not counted
  double longer_count = 0;
  double trained = 0;
  const ShareSampler* trained_share = nullptr;
};

constexpr uint8_t kLonger = 1;
constexpr uint8_t kTrained = 2;

/// Queries in which the same numbers are known.
struct Group {
  std::vector<uint8_t> known;            ///< [encoding] the bits above
  std::vector<std::vector<Cell>> seeds;  ///< [seed][encoding]
  bool ranked = false;                   ///< every encoding of two or more has an accuracy on longer lengths

  bool has(size_t encoding, uint8_t bit) const { return (known[encoding] & bit) != 0; }
};

std::vector<Group> group_queries(const SplitScores& split, ShareSamplers& samplers) {
  std::vector<Group> groups;
  std::map<std::vector<uint8_t>, size_t> places;
  for (const Query& query : split.queries) {
    std::vector<uint8_t> known;
    std::vector<Cell> cells;
    for (const Score* score : query.scores) {
      Cell& cell = cells.emplace_back();
      uint8_t& bits = known.emplace_back(uint8_t{0});
      if (score == nullptr) continue;
      if (score->accuracy) {
        bits |= kLonger;
        cell.longer = *score->accuracy;
        cell.longer_count = static_cast<double>(score->longer.count);
        if (score->longer.known()) cell.longer_share = &samplers.of(score->longer);
      }
      if (score->trained.known()) {
        bits |= kTrained;
        cell.trained = score->trained.share();
        cell.trained_share = &samplers.of(score->trained);
      }
    }
    const auto [place, is_new] = places.try_emplace(known, groups.size());
    if (is_new) {
      const bool complete = std::all_of(known.begin(), known.end(), [](uint8_t bits) { return (bits & kLonger) != 0; });
      groups.push_back({known, {}, complete && known.size() > 1});
    }
    groups[place->second].seeds.push_back(std::move(cells));
  }
  return groups;
}

class SplitBootstrap {
 public:
  SplitBootstrap(const ScoreTable& table, size_t resamples, Ties ties, PairReplicates* pairs)
      : table_(table), ties_(ties), pairs_(pairs), sums_(table.encodings.size()), seen_(table.encodings.size()) {
    const std::vector<Replicates> empty(table.encodings.size(), Replicates(resamples));
    result_ = {empty, empty, empty};
  }

  void add(const Group& group, size_t resamples, const Rng& rng) {
    const auto seeds = static_cast<double>(group.seeds.size());
    for (size_t e = 0; e < group.known.size(); ++e) {
      if (group.has(e, kLonger)) result_.longer[e].add_terms(seeds);
      if (group.has(e, kTrained)) result_.trained[e].add_terms(seeds);
      if (group.ranked) result_.reciprocal[e].add_terms(seeds);
      for (size_t b = e + 1; pairs_ != nullptr && b < group.known.size(); ++b) {
        if (group.has(e, kLonger) && group.has(b, kLonger)) (*pairs_)[e][b].add_terms(seeds);
      }
    }
    for (size_t number = 0; number <= resamples; ++number) {
      Rng drawn = rng.at(number);
      std::fill(sums_.begin(), sums_.end(), 0.0);
      for (size_t slot = 0; slot < group.seeds.size(); ++slot) {
        add_seed(group, group.seeds[number == 0 ? slot : drawn.below(group.seeds.size())], number, drawn);
      }
      for (size_t e = 0; e < group.known.size(); ++e) {
        if (!group.has(e, kLonger)) continue;
        result_.longer[e].add(number, sums_[e]);
        for (size_t b = e + 1; pairs_ != nullptr && b < group.known.size(); ++b) {
          if (group.has(b, kLonger)) (*pairs_)[e][b].add(number, sums_[e] - sums_[b]);
        }
      }
    }
  }

  SplitReplicates take() { return std::move(result_); }

 private:
  void add_seed(const Group& group, const std::vector<Cell>& cells, size_t number, Rng& rng) {
    for (size_t e = 0; e < cells.size(); ++e) {
      const Cell& cell = cells[e];
      const bool draws = number > 0;
      if (group.has(e, kLonger)) {
        double share = cell.longer;
        seen_[e] = share;
        if (draws && cell.longer_share != nullptr) {
          share = cell.longer_share->draw(rng);
          seen_[e] = std::round(share * cell.longer_count) / cell.longer_count;
        }
        sums_[e] += share;
      }
      if (group.has(e, kTrained)) {
        result_.trained[e].add(number, draws ? cell.trained_share->draw(rng) : cell.trained);
      }
    }
    if (!group.ranked) return;
    ranker_.rank(seen_, ties_, table_.published_rows, ranks_);
    for (size_t e = 0; e < cells.size(); ++e) result_.reciprocal[e].add(number, 1 / ranks_[e]);
  }

  const ScoreTable& table_;
  const Ties ties_;
  PairReplicates* pairs_;
  std::vector<double> sums_;  ///< of longer, by encoding
  std::vector<double> seen_;  ///< accuracies as they would be counted, of one seed
  std::vector<double> ranks_;
  Ranker ranker_;
  SplitReplicates result_;
};

}  // namespace

void Replicates::add(const Replicates& other) {
  for (size_t i = 0; i < sums_.size(); ++i) sums_[i] += other.sums_[i];
  terms_ += other.terms_;
}

void Replicates::add_mean(const Replicates& other) {
  if (other.empty()) return;
  for (size_t i = 0; i < sums_.size(); ++i) sums_[i] += other.mean(i);
  terms_ += 1;
}

std::optional<Estimate> Replicates::estimate(double sign) const {
  if (empty()) return std::nullopt;
  std::vector<double> replicates(sums_.size() - 1);
  for (size_t i = 0; i < replicates.size(); ++i) replicates[i] = sign * mean(i + 1);
  return percentile_interval(sign * mean(0), std::move(replicates));
}

SplitReplicates resample_split(const ScoreTable& table, const SplitScores& split, size_t resamples, Ties ties,
                               const Rng& rng, PairReplicates* pairs) {
  ShareSamplers samplers;
  const std::vector<Group> groups = group_queries(split, samplers);
  SplitBootstrap bootstrap(table, resamples, ties, pairs);
  for (size_t g = 0; g < groups.size(); ++g) {
    bootstrap.add(groups[g], resamples, rng.stream(std::to_string(g)));
  }
  return bootstrap.take();
}

}  // namespace lengthwise
