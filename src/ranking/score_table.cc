#include "ranking/score_table.h"

#include <algorithm>
#include <functional>

#include "core/error.h"
#include "results/encoding_names.h"

namespace lengthwise {
namespace {

template <class T, class Make>
T& find_or_add(std::vector<T>& items, const std::function<bool(const T&)>& is_it, Make make) {
  const auto found = std::find_if(items.begin(), items.end(), is_it);
  if (found != items.end()) return *found;
  items.push_back(make());
  return items.back();
}

std::vector<std::string> usual_categories(const ScoreTable& table) {
  std::vector<std::string> categories;
  const auto add = [&](const std::string& name) {
    const bool used = std::any_of(table.splits.begin(), table.splits.end(),
                                  [&](const SplitScores& split) { return split.category == name; });
    if (used && std::find(categories.begin(), categories.end(), name) == categories.end()) categories.push_back(name);
  };
  for (const char* name : {"primitive", "reasoning", "classic"}) add(name);
  for (const SplitScores& split : table.splits) add(split.category);
  return categories;
}

}  // namespace

bool Query::complete() const {
  return std::find(scores.begin(), scores.end(), nullptr) == scores.end();
}

size_t ScoreTable::count_complete() const {
  size_t count = 0;
  for (const SplitScores& split : splits) {
    for (const Query& query : split.queries) count += split.ranked && query.complete() ? 1 : 0;
  }
  return count;
}

size_t ScoreTable::count_incomplete() const {
  size_t count = 0;
  for (const SplitScores& split : splits) {
    for (const Query& query : split.queries) count += split.ranked && !query.complete() ? 1 : 0;
  }
  return count;
}

size_t ScoreTable::most_seeds() const {
  size_t most = 0;
  for (const SplitScores& split : splits) most = std::max(most, split.queries.size());
  return most;
}

size_t ScoreTable::category_of(const SplitScores& split) const {
  return static_cast<size_t>(std::find(categories.begin(), categories.end(), split.category) - categories.begin());
}

ScoreTable make_score_table(const std::vector<Score>& scores) {
  ScoreTable table;
  std::vector<std::string> names;
  names.reserve(scores.size());
  for (const Score& score : scores) names.push_back(score.encoding);
  table.encodings = in_usual_order(names);
  table.published_rows.reserve(table.encodings.size());
  for (const std::string& name : table.encodings) table.published_rows.push_back(published_row(name));
  const bool plain = std::any_of(scores.begin(), scores.end(), [](const Score& score) { return !score.scratchpad; });
  for (const Score& score : scores) {
    const bool apart = score.scratchpad && plain;
    const std::string suffix = score.category.empty() ? "scratchpad" : ", scratchpad";
    const std::string category = apart ? score.category + suffix : score.category;
    SplitScores& split = find_or_add<SplitScores>(
        table.splits, [&](const SplitScores& item) { return item.name == score.split && item.category == category; },
        [&] {
          return SplitScores{score.split, category, {}, !apart};
        });
    Query& query = find_or_add<Query>(
        split.queries, [&](const Query& item) { return item.seed == score.seed; },
        [&] {
          return Query{score.seed, std::vector<const Score*>(table.encodings.size(), nullptr)};
        });
    const auto at = std::find(table.encodings.begin(), table.encodings.end(), score.encoding);
    const Score*& place = query.scores[static_cast<size_t>(at - table.encodings.begin())];
    LENGTHWISE_CHECK(place == nullptr, "{} on {} with seed {} twice", score.encoding, score.split, score.seed);
    place = &score;
  }
  table.categories = usual_categories(table);
  return table;
}

}  // namespace lengthwise
