#include "results/evaluation_file.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "core/error.h"
#include "core/text.h"
#include "results/json_lines.h"

namespace lengthwise {
namespace {

constexpr const char* kName = "eval.jsonl";

bool equal(double a, double b) {
  return std::abs(a - b) <= 1e-9;
}

constexpr int64_t kMost = int64_t{1} << 40;

/// What a row of either file counts, by length or not.
LengthCount counts_of(const JsonObject& row) {
  const std::string& split = row.text("split");
  if (split != "validation" && split != "test") row.fail_at("split", "validation or test");
  LengthCount counts;
  counts.validation = split == "validation";
  counts.count = row.whole("count", 1, kMost);
  counts.correct = row.whole("correct", 0, counts.count);
  if (!equal(row.number("accuracy"), Tally{counts.count, counts.correct}.share())) {
    fail("{}: {} of {} is not an accuracy of {}", row.where(), counts.correct, counts.count, row.number("accuracy"));
  }
  return counts;
}

/// The whole of a row by length.
LengthResult result_of(const JsonObject& row) {
  LengthResult result{.counts = counts_of(row), .low = row.number("low"), .high = row.number("high")};
  result.counts.length = row.whole("length", 0, kMost);
  result.counts.loss = row.find_number("loss").value_or(0);
  return result;
}

/// Ascending, of equal lengths validation first.
void sort_lengths(std::vector<LengthResult>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const LengthResult& a, const LengthResult& b) {
    return std::tuple(a.counts.length, !a.counts.validation) < std::tuple(b.counts.length, !b.counts.validation);
  });
}

/// All rows of one selection and split.
struct Rows {
  std::map<int64_t, LengthResult> lengths;
  std::map<std::string, Tally> categories;

  Tally total() const {
    Tally sum;
    for (const auto& [length, row] : lengths) {
      sum.count += row.counts.count;
      sum.correct += row.counts.correct;
    }
    return sum;
  }
};

class Evaluation {
 public:
  explicit Evaluation(std::string_view text) {
    for_each_object(text, kName, false, [&](const JsonObject& row) { add(row); });
    if (rows_.empty()) fail("{} is empty", kName);
    for (const auto& [split, rows] : rows_["best"]) check_alike(split, rows, rows_["last"][split]);
    for (const auto& [split, rows] : rows_["last"]) check_alike(split, rows, rows_["best"][split]);
    for (const auto& [selection, splits] : rows_) {
      for (const auto& [split, rows] : splits) check_categories(selection, split, rows);
    }
  }

  void check_summary(const std::string& selection, const JsonObject& section) const {
    check_total(selection, "validation", section, "in_distribution");
    // Out of distribution once meant every test example; where it means the longer ones, `test_interval` is the whole.
    check_total(selection, "test", section, section.has("test_interval") ? "test" : "out_of_distribution");
    if (!section.has("accuracy_by_length")) return;
    std::map<std::string, double> shares;
    for (const char* split : {"validation", "test"}) {
      for (const auto& [length, row] : of(selection, split).lengths) {
        shares[std::to_string(length)] = Tally{row.counts.count, row.counts.correct}.share();
      }
    }
    const JsonObject by_length = section.object("accuracy_by_length");
    bool same = shares.size() == by_length.members().size();
    for (const auto& [length, share] : shares) {
      same = same && equal(by_length.find_number(length).value_or(-1), share);
    }
    if (!same) fail("{} and summary.json differ in the accuracies by length of the {} weights", kName, selection);
  }

  std::vector<LengthResult> take(const std::string& selection) const {
    std::vector<LengthResult> taken;
    for (const char* split : {"validation", "test"}) {
      for (const auto& [length, row] : of(selection, split).lengths) taken.push_back(row);
    }
    sort_lengths(taken);
    return taken;
  }

 private:
  void add(const JsonObject& row) {
    const std::string& selection = row.text("selection");
    const std::string& split = row.text("split");
    if (selection != "best" && selection != "last") row.fail_at("selection", "best or last");
    Rows& rows = rows_[selection][split];
    if (row.has("category")) {
      const LengthCount counts = counts_of(row);
      if (rows.categories.emplace(row.text("category"), Tally{counts.count, counts.correct}).second) return;
      fail("{}: the category {} stands there twice", row.where(), excerpt(row.text("category")));
    }
    const LengthResult result = result_of(row);
    const int64_t length = result.counts.length;
    if (rows.lengths.emplace(length, result).second) return;
    fail("{}: length {} stands there twice", row.where(), length);
  }

  /// Both weights answer the same examples.
  static void check_alike(const std::string& split, const Rows& one, const Rows& other) {
    bool same = one.lengths.size() == other.lengths.size() && one.categories.size() == other.categories.size();
    for (const auto& [length, row] : one.lengths) {
      const auto found = other.lengths.find(length);
      same = same && found != other.lengths.end() && found->second.counts.count == row.counts.count;
    }
    for (const auto& [category, tally] : one.categories) {
      const auto found = other.categories.find(category);
      same = same && found != other.categories.end() && found->second.count == tally.count;
    }
    if (!same) fail("{} is not complete: the best and the last weights have other rows of the split {}", kName, split);
  }

  static void check_categories(const std::string& selection, const std::string& split, const Rows& rows) {
    if (rows.categories.empty()) return;
    Tally sum;
    for (const auto& [category, tally] : rows.categories) {
      sum.count += tally.count;
      sum.correct += tally.correct;
    }
    if (sum.count != rows.total().count || sum.correct != rows.total().correct) {
      fail("{}: lengths and categories of the {} weights on the split {} have other sums", kName, selection, split);
    }
  }

  void check_total(const std::string& selection, const char* split, const JsonObject& section,
                   const std::string& key) const {
    const Tally total = of(selection, split).total();
    // Nothing measured is null; it once was 0.
    bool same = equal(section.find_number(key).value_or(total.share()), total.share());
    if (section.has(key + "_interval")) {
      const JsonObject interval = section.object(key + "_interval");
      same = same && interval.find_whole("count").value_or(total.count) == total.count &&
             interval.find_whole("correct").value_or(total.correct) == total.correct;
    }
    if (!same) fail("{} and summary.json differ in the {} accuracy of the {} weights", kName, split, selection);
  }

  const Rows& of(const std::string& selection, const std::string& split) const {
    static const Rows none;
    const auto splits = rows_.find(selection);
    if (splits == rows_.end()) return none;
    const auto rows = splits->second.find(split);
    return rows == splits->second.end() ? none : rows->second;
  }

  std::map<std::string, std::map<std::string, Rows>> rows_;
};

}  // namespace

std::vector<LengthResult> parse_evaluation(std::string_view text, const std::string& weights,
                                           const JsonObject& summary) {
  const Evaluation evaluation(text);
  for (const char* selection : {"best", "last"}) {
    if (summary.has(selection)) evaluation.check_summary(selection, summary.object(selection));
  }
  return evaluation.take(weights);
}

std::vector<Reading> parse_readings(std::string_view text, const std::vector<LengthResult>& own) {
  constexpr const char* kReadings = "readings.jsonl";
  std::vector<Reading> readings;
  for_each_object(text, kReadings, false, [&](const JsonObject& row) {
    const std::string& encoding = row.text("encoding");
    auto found = std::find_if(readings.begin(), readings.end(),
                              [&](const Reading& reading) { return reading.encoding == encoding; });
    if (found == readings.end())
      found = readings.insert(found, {encoding, row.find_text("encoding_label").value_or(encoding), {}});
    found->lengths.push_back(result_of(row));
  });
  const auto examples = [](const LengthResult& row) {
    return std::tuple(row.counts.length, row.counts.validation, row.counts.count);
  };
  for (Reading& reading : readings) {
    sort_lengths(reading.lengths);
    const bool same = std::equal(reading.lengths.begin(), reading.lengths.end(), own.begin(), own.end(),
                                 [&](const auto& a, const auto& b) { return examples(a) == examples(b); });
    if (!same) fail("{}: with {} other examples were answered than in {}", kReadings, excerpt(reading.encoding), kName);
  }
  return readings;
}

}  // namespace lengthwise
