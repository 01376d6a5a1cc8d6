#include "results/evaluation_file.h"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "results/json_lines.h"

namespace lengthwise {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kName = "eval.jsonl";

bool equal(double a, double b) {
  return std::abs(a - b) <= 1e-9;
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
    for_each_object(text, kName, false, [&](const Json& row) { add(row); });
    if (rows_.empty()) fail("{} is empty", kName);
    for (const auto& [split, rows] : rows_["best"]) check_alike(split, rows, rows_["last"][split]);
    for (const auto& [split, rows] : rows_["last"]) check_alike(split, rows, rows_["best"][split]);
    for (const auto& [selection, splits] : rows_) {
      for (const auto& [split, rows] : splits) check_categories(selection, split, rows);
    }
  }

  void check_summary(const std::string& selection, const Json& section) const {
    check_total(selection, "validation", section, "in_distribution");
    // Out of distribution once meant every test example; where it means the longer ones, `test_interval` is the whole.
    check_total(selection, "test", section, section.contains("test_interval") ? "test" : "out_of_distribution");
    const auto by_length = section.find("accuracy_by_length");
    if (by_length == section.end() || !by_length->is_object()) return;
    std::map<std::string, double> shares;
    for (const char* split : {"validation", "test"}) {
      for (const auto& [length, row] : of(selection, split).lengths) {
        shares[std::to_string(length)] = Tally{row.counts.count, row.counts.correct}.share();
      }
    }
    bool same = shares.size() == by_length->size();
    for (const auto& [length, share] : by_length->items()) {
      same = same && share.is_number() && shares.contains(length) && equal(shares[length], share.get<double>());
    }
    if (!same) fail("{} and summary.json differ in the accuracies by length of the {} weights", kName, selection);
  }

  std::vector<LengthResult> take(const std::string& selection) const {
    std::vector<LengthResult> taken;
    for (const char* split : {"validation", "test"}) {
      for (const auto& [length, row] : of(selection, split).lengths) taken.push_back(row);
    }
    std::stable_sort(taken.begin(), taken.end(),
                     [](const LengthResult& a, const LengthResult& b) { return a.counts.length < b.counts.length; });
    return taken;
  }

 private:
  void add(const Json& row) {
    const auto selection = row.at("selection").get<std::string>();
    const auto split = row.at("split").get<std::string>();
    if (selection != "best" && selection != "last") fail("the selection is neither best nor last");
    if (split != "validation" && split != "test") fail("the split is neither validation nor test");
    LengthResult result;
    LengthCount& counts = result.counts;
    counts.validation = split == "validation";
    counts.count = row.at("count").get<int64_t>();
    counts.correct = row.at("correct").get<int64_t>();
    if (counts.count < 1 || counts.correct < 0 || counts.correct > counts.count) {
      fail("{} of {} cannot be right", counts.correct, counts.count);
    }
    const Tally tally{counts.count, counts.correct};
    if (!equal(row.at("accuracy").get<double>(), tally.share())) {
      fail("{} of {} is not an accuracy of {}", counts.correct, counts.count, row.at("accuracy").get<double>());
    }
    Rows& rows = rows_[selection][split];
    if (row.contains("category")) {
      const auto category = row["category"].get<std::string>();
      if (!rows.categories.emplace(category, tally).second) fail("the category stands there twice");
      return;
    }
    counts.length = row.at("length").get<int64_t>();
    counts.loss = row.contains("loss") && row["loss"].is_number() ? row["loss"].get<double>() : 0;
    result.low = row.at("low").get<double>();
    result.high = row.at("high").get<double>();
    if (!rows.lengths.emplace(counts.length, result).second) fail("length {} stands there twice", counts.length);
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

  void check_total(const std::string& selection, const char* split, const Json& section, const std::string& key) const {
    const Tally total = of(selection, split).total();
    bool same = true;
    const auto share = section.find(key);
    // Nothing measured is null; it once was 0.
    if (share != section.end() && share->is_number()) same = equal(share->get<double>(), total.share());
    const auto interval = section.find(key + "_interval");
    if (interval != section.end() && interval->is_object()) {
      same = same && interval->value("count", total.count) == total.count &&
             interval->value("correct", total.correct) == total.correct;
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

std::vector<LengthResult> parse_evaluation(std::string_view text, const std::string& weights, const Json& summary) {
  const Evaluation evaluation(text);
  for (const char* selection : {"best", "last"}) {
    const auto section = summary.find(selection);
    if (section != summary.end() && section->is_object()) evaluation.check_summary(selection, *section);
  }
  return evaluation.take(weights);
}

}  // namespace lengthwise
