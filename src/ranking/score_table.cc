#include "ranking/score_table.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "core/error.h"
#include "results/encoding_names.h"

namespace lengthwise {
namespace {

/// Names with their places, by the order of appearance.
class Places {
 public:
  size_t of(const std::string& name) { return places_.try_emplace(name, places_.size()).first->second; }

 private:
  std::unordered_map<std::string, size_t> places_;
};

std::vector<std::string> usual_categories(const ScoreTable& table) {
  std::unordered_set<std::string> used;
  for (const SplitScores& split : table.splits) used.insert(split.category);
  std::vector<std::string> categories;
  for (const char* name : {"primitive", "reasoning", "classic"}) {
    if (used.erase(name) > 0) categories.emplace_back(name);
  }
  for (const SplitScores& split : table.splits) {
    if (used.erase(split.category) > 0) categories.push_back(split.category);
  }
  return categories;
}

/// The first score of an encoding says how it is written. Where two are written alike, their names tell them apart.
void label_encodings(std::span<const Score* const> scores, ScoreTable& table) {
  std::unordered_map<std::string_view, const Score*> first;
  for (const Score* score : scores) first.try_emplace(score->encoding, score);
  std::unordered_map<std::string, size_t> uses;
  for (const std::string& name : table.encodings) {
    const Score& score = *first.at(name);
    table.labels.push_back(score.label.empty() ? encoding_label(name) : score.label);
    table.families.push_back(score.family.empty() ? encoding_family(name) : score.family);
    ++uses[table.labels.back()];
  }
  for (size_t e = 0; e < table.labels.size(); ++e) {
    std::string& label = table.labels[e];
    if (uses.at(label) > 1 && label != table.encodings[e]) label += " [" + table.encodings[e] + "]";
  }
}

void name_encodings(std::span<const Score* const> scores, ScoreTable& table) {
  std::vector<std::string> names;
  names.reserve(scores.size());
  for (const Score* score : scores) names.push_back(score->encoding);
  table.encodings = in_usual_order(names);
  if (table.encodings.size() > kMostEncodings) {
    fail("there are {} encodings; at most {} can be compared", table.encodings.size(), kMostEncodings);
  }
  for (const std::string& name : table.encodings) table.published_rows.push_back(published_row(name));
  label_encodings(scores, table);
}

}  // namespace

bool Query::complete() const {
  return std::all_of(scores.begin(), scores.end(),
                     [](const Score* score) { return score != nullptr && score->accuracy; });
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
    for (const Query& query : split.queries) count += split.ranked && split.longer && !query.complete() ? 1 : 0;
  }
  return count;
}

size_t ScoreTable::most_seeds() const {
  size_t most = 0;
  for (const SplitScores& split : splits) most = std::max(most, split.queries.size());
  return most;
}

ScoreTable make_score_table(std::span<const Score* const> scores) {
  ScoreTable table;
  name_encodings(scores, table);
  Places encodings;
  for (const std::string& name : table.encodings) encodings.of(name);
  const bool plain = std::any_of(scores.begin(), scores.end(), [](const Score* score) { return !score->scratchpad; });
  Places splits;
  Places queries;
  std::vector<std::pair<size_t, size_t>> places;  // of queries: split and number in it
  for (const Score* score : scores) {
    const bool apart = score->scratchpad && plain;
    const std::string suffix = score->category.empty() ? "scratchpad" : ", scratchpad";
    const std::string category = apart ? score->category + suffix : score->category;
    const size_t s = splits.of(category + '\n' + score->split);
    if (s == table.splits.size()) table.splits.push_back({score->split, category, {}, !apart, false});
    SplitScores& split = table.splits[s];
    split.longer = split.longer || score->accuracy;
    const size_t q = queries.of(std::to_string(s) + '\n' + score->seed);
    if (q == places.size()) {
      places.emplace_back(s, split.queries.size());
      if (places.size() * table.encodings.size() > kMostCells) {
        fail("{} encodings on {} comparisons (split and seed) are too many: at most {} results can be compared at once",
             table.encodings.size(), places.size(), kMostCells);
      }
      split.queries.push_back({score->seed, std::vector<const Score*>(table.encodings.size(), nullptr)});
    }
    const Score*& place = split.queries[places[q].second].scores[encodings.of(score->encoding)];
    LENGTHWISE_CHECK(place == nullptr, "{} on {} with seed {} twice", score->encoding, score->split, score->seed);
    place = score;
  }
  table.categories = usual_categories(table);
  return table;
}

}  // namespace lengthwise
