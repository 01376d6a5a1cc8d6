#include "ranking/totals.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lengthwise {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// A mean that leaves NaN out, and is NaN of nothing.
class Mean {
 public:
  void add(double value) {
    if (std::isnan(value)) return;
    sum_ += value;
    ++count_;
  }
  double get() const { return count_ == 0 ? kNone : sum_ / static_cast<double>(count_); }

 private:
  double sum_ = 0;
  int64_t count_ = 0;
};

std::vector<double> values_of(const std::vector<Mean>& means) {
  std::vector<double> values;
  values.reserve(means.size());
  for (const Mean& mean : means) values.push_back(mean.get());
  return values;
}

bool complete(const std::vector<double>& accuracies) {
  for (const double accuracy : accuracies) {
    if (std::isnan(accuracy)) return false;
  }
  return true;
}

Accuracies shape_of(const ScoreTable& table) {
  Accuracies accuracies;
  for (const SplitScores& split : table.splits) {
    accuracies.emplace_back(split.queries.size(), std::vector<double>(table.encodings.size(), kNone));
  }
  return accuracies;
}

std::vector<double> mean_over_queries(const std::vector<std::vector<double>>& queries, size_t encodings) {
  std::vector<Mean> means(encodings);
  for (const std::vector<double>& query : queries) {
    for (size_t e = 0; e < encodings; ++e) means[e].add(query[e]);
  }
  return values_of(means);
}

}  // namespace

Sample observed_sample(const ScoreTable& table) {
  Sample sample{shape_of(table), shape_of(table)};
  for (size_t s = 0; s < table.splits.size(); ++s) {
    const std::vector<Query>& queries = table.splits[s].queries;
    for (size_t q = 0; q < queries.size(); ++q) {
      for (size_t e = 0; e < table.encodings.size(); ++e) {
        const Score* score = queries[q].scores[e];
        if (score == nullptr) continue;
        sample.longer[s][q][e] = score->accuracy;
        if (score->trained.known()) sample.trained[s][q][e] = score->trained.share();
      }
    }
  }
  return sample;
}

Resampler::Resampler(const ScoreTable& table) {
  for (const SplitScores& split : table.splits) {
    auto& queries = cells_.emplace_back();
    for (const Query& query : split.queries) {
      auto& cells = queries.emplace_back();
      for (const Score* score : query.scores) {
        Cell& cell = cells.emplace_back();
        if (score == nullptr) continue;
        cell = {score->accuracy,      BinomialSampler(score->longer.count, score->longer.correct),
                score->longer.count,  BinomialSampler(score->trained.count, score->trained.correct),
                score->trained.count, true};
      }
    }
    auto& peers = peers_.emplace_back(queries.size());
    for (size_t q = 0; q < queries.size(); ++q) {
      for (size_t other = 0; other < queries.size(); ++other) {
        const bool same = std::equal(queries[q].begin(), queries[q].end(), queries[other].begin(),
                                     [](const Cell& a, const Cell& b) { return a.present == b.present; });
        if (same) peers[q].push_back(other);
      }
    }
  }
}

Sample Resampler::draw(Rng rng) const {
  Sample sample;
  for (size_t s = 0; s < cells_.size(); ++s) {
    const auto& queries = cells_[s];
    auto& longer = sample.longer.emplace_back();
    auto& trained = sample.trained.emplace_back();
    for (size_t slot = 0; slot < queries.size(); ++slot) {
      const std::vector<size_t>& peers = peers_[s][slot];
      const std::vector<Cell>& cells = queries[peers[rng.below(peers.size())]];
      auto& longer_row = longer.emplace_back(cells.size(), kNone);
      auto& trained_row = trained.emplace_back(cells.size(), kNone);
      for (size_t e = 0; e < cells.size(); ++e) {
        const Cell& cell = cells[e];
        if (!cell.present) continue;
        longer_row[e] = cell.longer_count == 0
                            ? cell.accuracy
                            : static_cast<double>(cell.longer.draw(rng)) / static_cast<double>(cell.longer_count);
        if (cell.trained_count == 0) continue;
        trained_row[e] = static_cast<double>(cell.trained.draw(rng)) / static_cast<double>(cell.trained_count);
      }
    }
  }
  return sample;
}

std::vector<double> paired_differences(const ScoreTable& table, const Accuracies& longer, size_t a, size_t b) {
  std::vector<double> differences;
  for (size_t s = 0; s < table.splits.size(); ++s) {
    if (!table.splits[s].ranked) continue;
    for (const std::vector<double>& query : longer[s]) {
      const double difference = query[a] - query[b];
      if (!std::isnan(difference)) differences.push_back(difference);
    }
  }
  return differences;
}

Totals totals_of(const ScoreTable& table, const Sample& sample, Ties ties) {
  const size_t encodings = table.encodings.size();
  const size_t categories = table.categories.size();
  std::vector<Mean> mrr(encodings), longer(encodings), trained(encodings);
  std::vector<std::vector<Mean>> category_mrr(categories, mrr), category_longer(categories, mrr);
  Totals totals;
  for (size_t s = 0; s < table.splits.size(); ++s) {
    const SplitScores& split = table.splits[s];
    const size_t category = table.category_of(split);
    for (const std::vector<double>& query : sample.longer[s]) {
      if (!complete(query)) continue;
      const std::vector<double> ranks = ranks_of(query, ties, table.published_rows);
      for (size_t e = 0; e < encodings; ++e) {
        if (split.ranked) mrr[e].add(1 / ranks[e]);
        category_mrr[category][e].add(1 / ranks[e]);
      }
    }
    totals.split_longer.push_back(mean_over_queries(sample.longer[s], encodings));
    totals.split_trained.push_back(mean_over_queries(sample.trained[s], encodings));
    for (size_t e = 0; e < encodings; ++e) {
      category_longer[category][e].add(totals.split_longer[s][e]);
      if (!split.ranked) continue;
      longer[e].add(totals.split_longer[s][e]);
      trained[e].add(totals.split_trained[s][e]);
    }
  }
  totals.mrr = values_of(mrr);
  totals.longer = values_of(longer);
  totals.trained = values_of(trained);
  for (size_t c = 0; c < categories; ++c) {
    totals.category_mrr.push_back(values_of(category_mrr[c]));
    totals.category_longer.push_back(values_of(category_longer[c]));
  }
  totals.differences.assign(encodings, std::vector<double>(encodings, kNone));
  for (size_t a = 0; a < encodings; ++a) {
    for (size_t b = a + 1; b < encodings; ++b) {
      Mean mean;
      for (const double difference : paired_differences(table, sample.longer, a, b)) mean.add(difference);
      totals.differences[a][b] = mean.get();
    }
  }
  return totals;
}

}  // namespace lengthwise
