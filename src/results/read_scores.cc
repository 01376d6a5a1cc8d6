#include "results/read_scores.h"

#include <algorithm>
#include <map>
#include <tuple>

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
  ScoreReader(const CsvTable& table, const std::string& where) : table_(table), where_(where) {
    const std::vector<std::string>& header = table.header.fields;
    for (size_t i = 0; i < header.size(); ++i) {
      if (std::count(header.begin(), header.end(), header[i]) > 1 && !header[i].empty()) {
        fail("{}:{}: the column '{}' stands there twice", where, table.header.line, excerpt(header[i]));
      }
    }
    split_ = needed("split");
    encoding_ = needed("encoding");
    seed_ = needed("seed");
    accuracy_ = needed("accuracy");
    category_ = find("category");
    by_length_ =
        find("set") != kAbsent && find("length") != kAbsent && find("count") != kAbsent && find("correct") != kAbsent;
  }

  std::vector<Score> read() {
    for (const CsvRow& row : table_.rows) by_length_ ? add_length(row) : add_total(row);
    if (table_.rows.empty()) fail("{} has a header and no results", where_);
    if (by_length_) finish_lengths();
    return std::move(scores_);
  }

 private:
  size_t find(const std::string& column) const {
    const auto& header = table_.header.fields;
    const auto found = std::find(header.begin(), header.end(), column);
    return found == header.end() ? kAbsent : static_cast<size_t>(found - header.begin());
  }

  size_t needed(const std::string& column) const {
    const size_t at = find(column);
    if (at != kAbsent) return at;
    const auto& header = table_.header.fields;
    if (header.size() == 1 && header.front().find_first_of(";\t") != std::string::npos) {
      fail("{}:{}: the columns must be separated by commas", where_, table_.header.line);
    }
    const std::string nearest = nearest_name(column, header);
    fail("{}:{}: there is no column '{}'{}; the first line must name split, category, encoding, seed and accuracy",
         where_, table_.header.line, column, nearest.empty() ? "" : fmt::format(" (but '{}')", excerpt(nearest)));
  }

  const std::string& text(const CsvRow& row, size_t column) const {
    const std::string& field = row.fields[column];
    if (field.empty()) fail("{}:{}: {} is empty", where_, row.line, table_.header.fields[column]);
    return field;
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

  int64_t whole(const CsvRow& row, const std::string& column) const {
    const std::string& field = text(row, find(column));
    int64_t value = -1;
    try {
      from_text(field, value);
    } catch (const UserError&) {
    }
    if (value < 0) fail("{}:{}: {} '{}' is not a whole number", where_, row.line, column, excerpt(field));
    return value;
  }

  /// The model of this line, and whether an earlier line named it.
  std::pair<Score*, bool> find_score(const CsvRow& row) {
    Score score;
    score.split = text(row, split_);
    score.category = category_ == kAbsent ? "" : row.fields[category_];
    score.encoding = text(row, encoding_);
    score.seed = text(row, seed_);
    const auto key = std::make_tuple(score.category, score.split, score.encoding, score.seed);
    const auto [at, is_new] = places_.try_emplace(key, scores_.size(), row.line);
    if (is_new) scores_.push_back(score);
    first_line_ = at->second.second;
    return {&scores_[at->second.first], !is_new};
  }

  void add_total(const CsvRow& row) {
    const auto [score, again] = find_score(row);
    if (again) {
      fail("{}:{}: {} on {} with seed {} stands in line {} already", where_, row.line, excerpt(score->encoding),
           excerpt(score->split), excerpt(score->seed), first_line_);
    }
    score->accuracy = accuracy(row);
  }

  void add_length(const CsvRow& row) {
    Score& score = *find_score(row).first;
    const std::string& set = text(row, find("set"));
    if (set != "validation" && set != "test") {
      fail("{}:{}: the set '{}' is neither validation nor test", where_, row.line, excerpt(set));
    }
    LengthCount one{whole(row, "length"), set == "validation", whole(row, "count"), whole(row, "correct")};
    if (one.correct > one.count) fail("{}:{}: {} of {} cannot be right", where_, row.line, one.correct, one.count);
    for (const LengthCount& other : score.lengths) {
      if (other.length == one.length && other.trained == one.trained) {
        fail("{}:{}: length {} of this model stands there already", where_, row.line, one.length);
      }
    }
    if (one.trained) score.train_limit = std::max(score.train_limit.value_or(0), one.length);
    Tally& total = one.trained ? score.trained : score.longer;
    total.count += one.count;
    total.correct += one.correct;
    score.lengths.push_back(one);
  }

  void finish_lengths() {
    std::erase_if(scores_, [](const Score& score) { return !score.longer.known(); });
    if (scores_.empty()) fail("{} has no results of the set test", where_);
    for (Score& score : scores_) {
      score.accuracy = score.longer.share();
      std::sort(score.lengths.begin(), score.lengths.end(), [](const LengthCount& a, const LengthCount& b) {
        return std::tie(a.length, b.trained) < std::tie(b.length, a.trained);
      });
    }
  }

  const CsvTable& table_;
  const std::string& where_;
  size_t split_ = 0, encoding_ = 0, seed_ = 0, accuracy_ = 0, category_ = kAbsent;
  bool by_length_ = false;
  std::vector<Score> scores_;
  int64_t first_line_ = 0;
  std::map<std::tuple<std::string, std::string, std::string, std::string>, std::pair<size_t, int64_t>> places_;
};

}  // namespace

std::vector<Score> parse_scores(std::string_view text, const std::string& where) {
  const CsvTable table = parse_csv(text, where);
  return ScoreReader(table, where).read();
}

std::vector<Score> read_scores(const std::filesystem::path& path) {
  return parse_scores(read_file(path), path.string());
}

}  // namespace lengthwise
