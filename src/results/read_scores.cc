#include "results/read_scores.h"

#include <algorithm>
#include <unordered_map>

#include "core/config.h"
#include "core/error.h"
#include "core/files.h"
#include "core/text.h"
#include "results/csv.h"

namespace lengthwise {
namespace {

constexpr size_t kAbsent = static_cast<size_t>(-1);

class ScoreReader {
 public:
  ScoreReader(std::string_view text, const std::string& where) : csv_(text, where), where_(where) {
    std::vector<std::string> names = csv_.header().fields;
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(
        names.begin(), names.end(), [](const std::string& a, const std::string& b) { return a == b && !a.empty(); });
    if (twice != names.end()) {
      fail("{}:{}: the column '{}' stands there twice", where, csv_.header().line, excerpt(*twice));
    }
    split_ = needed("split");
    encoding_ = needed("encoding");
    seed_ = needed("seed");
    accuracy_ = needed("accuracy");
    by_length_ = set_ != kAbsent && length_ != kAbsent && count_ != kAbsent && correct_ != kAbsent;
  }

  std::vector<Score> read() {
    CsvRow row;
    while (csv_.next(row)) by_length_ ? add_length(row) : add_total(row);
    if (scores_.empty()) fail("{} has a header and no results", where_);
    if (by_length_) finish_lengths();
    return std::move(scores_);
  }

 private:
  size_t find(const std::string& column) const {
    const auto& header = csv_.header().fields;
    const auto found = std::find(header.begin(), header.end(), column);
    return found == header.end() ? kAbsent : static_cast<size_t>(found - header.begin());
  }

  size_t needed(const std::string& column) const {
    const size_t at = find(column);
    if (at != kAbsent) return at;
    const auto& header = csv_.header().fields;
    const int64_t line = csv_.header().line;
    if (header.size() == 1 && header.front().find_first_of(";\t") != std::string::npos) {
      fail("{}:{}: the columns must be separated by commas", where_, line);
    }
    const std::string nearest = nearest_name(column, header);
    fail("{}:{}: there is no column '{}'{}; the first line must name split, category, encoding, seed and accuracy",
         where_, line, column, nearest.empty() ? "" : fmt::format(" (but '{}')", excerpt(nearest)));
  }

  std::string_view text(const CsvRow& row, size_t column) const {
    const std::string& field = row.fields[column];
    if (field.empty()) fail("{}:{}: {} is empty", where_, row.line, csv_.header().fields[column]);
    return cell_text(field);
  }

  /// Where the column is absent or the cell empty, "".
  static std::string_view text_if_any(const CsvRow& row, size_t column) {
    return column == kAbsent ? std::string_view() : cell_text(row.fields[column]);
  }

  double accuracy(const CsvRow& row) const {
    std::string_view field = text(row, accuracy_);
    if (field.starts_with("+")) field.remove_prefix(1);
    double value = 0;
    try {
      from_text(field, value);
    } catch (const UserError&) {
      fail("{}:{}: the accuracy '{}' is not a number", where_, row.line, excerpt(field));
    }
    if (value < 0 || value > 1) {
      fail("{}:{}: the accuracy {} is not between 0 and 1{}", where_, row.line, field,
           value > 1 && value <= 100 ? "; divide percentages by 100" : "");
    }
    return value;
  }

  /// Bounded so that sums over any file stay whole numbers.
  int64_t whole(const CsvRow& row, size_t column) const {
    constexpr int64_t kMost = 1'000'000'000;
    const std::string_view field = text(row, column);
    int64_t value = -1;
    try {
      from_text(field, value);
    } catch (const UserError&) {
    }
    if (value < 0 || value > kMost) {
      fail("{}:{}: {} '{}' is not a whole number from 0 to {}", where_, row.line, csv_.header().fields[column],
           excerpt(field), kMost);
    }
    return value;
  }

  double loss(const CsvRow& row) const {
    const std::string_view field = text_if_any(row, loss_);
    if (field.empty()) return 0;
    double value = 0;
    try {
      from_text(field, value);
    } catch (const UserError&) {
      fail("{}:{}: the loss '{}' is not a number", where_, row.line, excerpt(field));
    }
    return value;
  }

  /// The model of this line, and the line that named it first.
  std::pair<Score*, int64_t> find_score(const CsvRow& row) {
    const std::string_view parts[] = {text_if_any(row, category_), text(row, split_), text(row, encoding_),
                                      text(row, seed_), text_if_any(row, tuned_)};
    key_.clear();
    for (const std::string_view part : parts) key_.append(part).push_back('\0');
    const auto [at, is_new] = places_.try_emplace(key_, scores_.size(), row.line);
    if (is_new) {
      Score& score = scores_.emplace_back();
      score.category = parts[0];
      score.split = parts[1];
      score.encoding = parts[2];
      score.seed = parts[3];
      score.tuned = parts[4];
      score.label = text_if_any(row, label_);
      score.family = text_if_any(row, family_);
      const std::string_view scratchpad = text_if_any(row, scratchpad_);
      score.scratchpad = !scratchpad.empty() && scratchpad != "false" && scratchpad != "none";
    }
    return {&scores_[at->second.first], at->second.second};
  }

  void add_total(const CsvRow& row) {
    const auto [score, first_line] = find_score(row);
    if (first_line != row.line) {
      fail("{}:{}: {} on {} with seed {} stands in line {} already", where_, row.line, excerpt(score->encoding),
           excerpt(score->split), excerpt(score->seed), first_line);
    }
    score->accuracy = accuracy(row);
  }

  void add_length(const CsvRow& row) {
    Score& score = *find_score(row).first;
    const std::string_view set = text(row, set_);
    if (set != "validation" && set != "test") {
      fail("{}:{}: the set '{}' is neither validation nor test", where_, row.line, excerpt(set));
    }
    const LengthCount one{whole(row, length_), set == "validation", whole(row, count_), whole(row, correct_),
                          loss(row)};
    if (one.correct > one.count) fail("{}:{}: {} of {} cannot be right", where_, row.line, one.correct, one.count);
    if (!text_if_any(row, limit_).empty()) score.train_limit = whole(row, limit_);
    score.lengths.push_back(one);
  }

  void finish_lengths() {
    for (Score& score : scores_) {
      for (const LengthCount& row : score.lengths) {
        if (row.validation) score.train_limit = std::max(score.train_limit.value_or(0), row.length);
      }
      add_up_lengths(score);
      const auto twice = std::adjacent_find(score.lengths.begin(), score.lengths.end(),
                                            [](const LengthCount& a, const LengthCount& b) {
                                              return a.length == b.length && a.validation == b.validation;
                                            });
      if (twice != score.lengths.end()) {
        fail("{}: length {} of {} on {} with seed {} stands there twice", where_, twice->length,
             excerpt(score.encoding), excerpt(score.split), excerpt(score.seed));
      }
    }
  }

  CsvReader csv_;
  const std::string& where_;
  size_t split_ = 0, encoding_ = 0, seed_ = 0, accuracy_ = 0;
  const size_t category_ = find("category"), scratchpad_ = find("scratchpad"), tuned_ = find("tuned");
  const size_t set_ = find("set"), length_ = find("length"), count_ = find("count"), correct_ = find("correct");
  const size_t loss_ = find("loss"), limit_ = find("train_limit");
  const size_t label_ = find("encoding_label"), family_ = find("encoding_family");
  bool by_length_ = false;
  std::vector<Score> scores_;
  std::string key_;
  std::unordered_map<std::string, std::pair<size_t, int64_t>> places_;  ///< of a model: its score and its first line
};

}  // namespace

std::vector<Score> parse_scores(std::string_view text, const std::string& where) {
  return ScoreReader(text, where).read();
}

std::vector<Score> read_scores(const std::filesystem::path& path) {
  return parse_scores(read_file(path), shown(path));
}

}  // namespace lengthwise
