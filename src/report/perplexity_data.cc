#include "report/perplexity_data.h"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "results/encoding_names.h"
#include "results/perplexity_file.h"

namespace lengthwise {
namespace {

/// Nine digits: differences between seeds and encodings are in the fourth.
Json sum_json(double nats) {
  return std::isfinite(nats) ? Json(std::stod(fmt::format("{:.9g}", nats))) : Json(nullptr);
}

class Texts {
 public:
  size_t place_of(const ContextRow& row) {
    const auto [found, fresh] = places_.try_emplace({row.corpus_checksum, row.crossed}, list_.size());
    if (fresh) list_.push_back({{"name", row.corpus}, {"checksum", row.corpus_checksum}, {"crossed", row.crossed}});
    return found->second;
  }
  Json take() { return std::move(list_); }

 private:
  std::map<std::pair<std::string, bool>, size_t> places_;
  Json list_ = Json::array();
};

Json row_json(const ContextRow& row, const StoredRun& run, Texts& texts) {
  Json positions = Json::array();
  for (const PositionSum& bin : row.positions) positions.push_back({bin.from, bin.to, bin.tokens, sum_json(bin.nats)});
  Json json = {{"text", texts.place_of(row)},
               {"window", row.window},
               {"stride", row.slides() ? row.stride : 0},
               {"tokens", row.tokens},
               {"bytes", row.bytes},
               {"nats", sum_json(row.nats)},
               {"positions", std::move(positions)},
               {"line", protocol_line(row)}};
  if (row.encoding != run.option("encoding"))
    json["with"] = row.encoding_label.empty() ? encoding_label(row.encoding) : row.encoding_label;
  return json;
}

}  // namespace

Json perplexity_data(const Results& results, const std::string& weights, std::vector<std::string>& notes) {
  Texts texts;
  Json runs = Json::array();
  for (size_t i = 0; i < results.runs.size(); ++i) {
    const StoredRun& run = results.runs[i];
    if (run.state != StoredState::finished) continue;
    try {
      Json rows = Json::array();
      for (const ContextRow& row : read_perplexity(run.folder, weights, run.steps))
        rows.push_back(row_json(row, run, texts));
      if (!rows.empty()) runs.push_back({{"run", i}, {"rows", std::move(rows)}});
    } catch (const UserError& error) {
      notes.push_back(fmt::format("The perplexity of {} cannot be shown: {}; `lengthwise eval` measures it again",
                                  run.name, error.what()));
    }
  }
  if (runs.empty()) return nullptr;
  return {{"texts", texts.take()}, {"runs", std::move(runs)}};
}

}  // namespace lengthwise
