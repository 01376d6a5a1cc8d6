#include "results/tidy.h"

#include <functional>

#include "core/config.h"
#include "core/json.h"
#include "results/csv.h"

namespace lengthwise {
namespace {

using Row = std::vector<std::pair<const char*, Json>>;

constexpr const char* kFirstColumns = "run,split,category,task,encoding,seed,";

void append_length(const Score& score, const LengthCount& counts, Row& row) {
  row.emplace_back("scratchpad", score.scratchpad);
  row.emplace_back("tuned", score.tuned);
  row.emplace_back("train_limit", score.train_limit ? Json(*score.train_limit) : Json(nullptr));
  row.emplace_back("set", counts.validation ? "validation" : "test");
  row.emplace_back("length", counts.length);
  row.emplace_back("longer", is_longer(counts, score.train_limit));
  row.emplace_back("count", counts.count);
  row.emplace_back("correct", counts.correct);
  row.emplace_back("accuracy", Tally{counts.count, counts.correct}.share());
}

void append_label(const Score& score, Row& row) {
  row.emplace_back("encoding_label", score.label);
  row.emplace_back("encoding_family", score.family);
}

using UseRow = std::function<void(const Row&)>;

void for_each_row(const Results& results, const UseRow& use) {
  for (const StoredRun* run : compared_runs(results)) {
    const Score score = run->score();
    for (const LengthResult& result : run->lengths) {
      Row row = {{"run", run->name},  {"split", run->split},       {"category", run->category},
                 {"task", run->task}, {"encoding", run->encoding}, {"seed", run->seed}};
      append_length(score, result.counts, row);
      row.emplace_back("low", result.low);
      row.emplace_back("high", result.high);
      row.emplace_back("loss", result.counts.loss);
      append_label(score, row);
      use(row);
    }
  }
}

void for_each_row(const std::vector<Score>& scores, const UseRow& use) {
  for (const Score& score : scores) {
    const Row model = {
        {"split", score.split}, {"category", score.category}, {"encoding", score.encoding}, {"seed", score.seed}};
    for (const LengthCount& counts : score.lengths) {
      Row row = model;
      append_length(score, counts, row);
      row.emplace_back("loss", counts.loss);
      append_label(score, row);
      use(row);
    }
    if (!score.lengths.empty()) continue;
    Row row = model;
    row.emplace_back("scratchpad", score.scratchpad);
    row.emplace_back("tuned", score.tuned);
    row.emplace_back("accuracy", *score.accuracy);
    append_label(score, row);
    use(row);
  }
}

std::string cell_of(const Json& value) {
  if (value.is_string()) return text_cell(value.get_ref<const std::string&>());
  if (value.is_number_float()) return to_text(value.get<double>());
  return value.is_null() ? std::string() : json_text(value);
}

template <class Source>
std::string csv_of(const Source& source, const std::string& header) {
  std::string text = header + "\n";
  std::vector<std::string> fields;
  for_each_row(source, [&](const Row& row) {
    fields.clear();
    for (const auto& [name, value] : row) fields.push_back(cell_of(value));
    append_csv_row(text, fields);
  });
  return text;
}

template <class Source>
std::string json_of(const Source& source) {
  std::string text = "[";
  for_each_row(source, [&](const Row& row) {
    Json object = Json::object();
    for (const auto& [name, value] : row) object[name] = value;
    text += (text.size() == 1 ? "\n" : ",\n") + json_text(object);
  });
  return text + "\n]\n";
}

}  // namespace

std::string tidy_csv(const Results& results) {
  return csv_of(results, std::string(kFirstColumns) +
                             "scratchpad,tuned,train_limit,set,length,longer,count,correct,accuracy,low,high,loss,"
                             "encoding_label,encoding_family");
}

std::string tidy_json(const Results& results) {
  return json_of(results);
}

std::string tidy_csv(const std::vector<Score>& scores) {
  const bool by_length = !scores.empty() && !scores.front().lengths.empty();
  return csv_of(scores,
                by_length ? "split,category,encoding,seed,scratchpad,tuned,train_limit,set,length,longer,count,correct,"
                            "accuracy,loss,encoding_label,encoding_family"
                          : "split,category,encoding,seed,scratchpad,tuned,accuracy,encoding_label,encoding_family");
}

std::string tidy_json(const std::vector<Score>& scores) {
  return json_of(scores);
}

bool is_tidy_csv(std::string_view text) {
  return text.starts_with(kFirstColumns);
}

}  // namespace lengthwise
