#include "results/tidy.h"

#include <nlohmann/json.hpp>

#include "core/config.h"
#include "results/csv.h"

namespace lengthwise {
namespace {

using Json = nlohmann::ordered_json;
using Row = std::vector<std::pair<const char*, Json>>;

std::vector<Row> rows_of(const Results& results) {
  std::vector<Row> rows;
  for (const StoredRun& run : results.runs) {
    if (run.state != StoredState::finished) continue;
    for (const LengthResult& row : run.lengths) {
      const LengthCount& counts = row.counts;
      const double accuracy = Tally{counts.count, counts.correct}.share();
      rows.push_back({{"run", run.name},
                      {"split", run.split},
                      {"category", run.category},
                      {"task", run.task},
                      {"encoding", run.encoding},
                      {"seed", run.seed},
                      {"set", counts.trained ? "validation" : "test"},
                      {"length", counts.length},
                      {"count", counts.count},
                      {"correct", counts.correct},
                      {"accuracy", accuracy},
                      {"low", row.low},
                      {"high", row.high},
                      {"loss", row.loss}});
    }
  }
  return rows;
}

std::vector<Row> rows_of(const std::vector<Score>& scores) {
  std::vector<Row> rows;
  rows.reserve(scores.size());
  for (const Score& score : scores) {
    rows.push_back({{"split", score.split},
                    {"category", score.category},
                    {"encoding", score.encoding},
                    {"seed", score.seed},
                    {"accuracy", score.accuracy}});
  }
  return rows;
}

std::string csv_of(const std::vector<Row>& rows, const std::vector<std::string>& header) {
  std::string text;
  append_csv_row(text, header);
  for (const Row& row : rows) {
    std::vector<std::string> fields;
    for (const auto& [name, value] : row) {
      fields.push_back(value.is_string()         ? value.get<std::string>()
                       : value.is_number_float() ? to_text(value.get<double>())
                                                 : value.dump());
    }
    append_csv_row(text, fields);
  }
  return text;
}

std::string json_of(const std::vector<Row>& rows) {
  std::string text = "[";
  for (size_t i = 0; i < rows.size(); ++i) {
    Json object = Json::object();
    for (const auto& [name, value] : rows[i]) object[name] = value;
    text += (i == 0 ? "\n" : ",\n") + object.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  return text + "\n]\n";
}

}  // namespace

std::string tidy_csv(const Results& results) {
  return csv_of(rows_of(results), {"run", "split", "category", "task", "encoding", "seed", "set", "length", "count",
                                   "correct", "accuracy", "low", "high", "loss"});
}

std::string tidy_json(const Results& results) {
  return json_of(rows_of(results));
}

std::string tidy_csv(const std::vector<Score>& scores) {
  return csv_of(rows_of(scores), {"split", "category", "encoding", "seed", "accuracy"});
}

std::string tidy_json(const std::vector<Score>& scores) {
  return json_of(rows_of(scores));
}

}  // namespace lengthwise
