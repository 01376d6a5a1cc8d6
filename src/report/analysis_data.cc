#include "report/analysis_data.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "core/config.h"
#include "core/error.h"
#include "core/json.h"
#include "report/head_data.h"
#include "results/analysis_file.h"

namespace lengthwise {
namespace {

/// Four digits are plenty for a chart; nothing for an empty cell.
Json number(const std::string& cell) {
  if (cell.empty()) return nullptr;
  double value = 0;
  from_text(cell, value);
  from_text(fmt::format("{:.4g}", value), value);
  return value;
}

int64_t whole(const std::string& cell, int64_t most = 1'000'000) {
  int64_t value = 0;
  from_text(cell, value);
  if (value < 0 || value > most) fail("{} is not between 0 and {}", value, most);
  return value;
}

constexpr int64_t kMostLayers = 1000;

Json probe_json(const StoredAnalysis& probe) {
  const auto column = [&](const char* name) { return probe.column(name); };
  const size_t content = column("content"), states = column("states"), labels = column("labels"),
               target = column("target"), kind = column("probe"), fit = column("fit"), layer = column("layer"),
               length = column("length"), r2 = column("r2"), low = column("r2_low"), high = column("r2_high"),
               error = column("error");
  int64_t shortest = INT64_MAX, longest = 0, layers = 0;
  for (const auto& row : probe.rows) {
    shortest = std::min(shortest, whole(row[length]));
    longest = std::max(longest, whole(row[length]));
    layers = std::max(layers, whole(row[layer], kMostLayers) + 1);
  }
  Json series = Json::object();
  for (const auto& row : probe.rows) {
    const int64_t at = whole(row[length]);
    const std::string shown = row[labels] == "shuffled" ? "shuffled" : row[states];
    for (const auto& [where, wanted] : {std::pair{"inside", shortest}, std::pair{"longest", longest}}) {
      if (at != wanted) continue;
      Json& line =
          series[fmt::format("{} {} {} {} {} {}", row[content], row[target], row[kind], row[fit], where, shown)];
      if (line.is_null()) line = Json(std::vector<Json>(static_cast<size_t>(layers)));
      line[static_cast<size_t>(whole(row[layer]))] = {number(row[r2]), number(row[low]), number(row[high]),
                                                      number(row[error])};
    }
  }
  return {{"layers", layers}, {"length", shortest}, {"longest", longest}, {"series", std::move(series)}};
}

Json similarity_json(const StoredAnalysis& similarity, const Comparison& comparison) {
  const auto place = [&](const std::string& encoding) {
    const auto found = std::find(comparison.encodings.begin(), comparison.encodings.end(), encoding);
    return found == comparison.encodings.end() ? Json(nullptr) : Json(found - comparison.encodings.begin());
  };
  Json rows = Json::array();
  const auto column = [&](const char* name) { return similarity.column(name); };
  const size_t encoding = column("other_encoding"), relation = column("relation"), content = column("content"),
               computation = column("computation"), length = column("length"), layer = column("layer"),
               divergence = column("divergence"), low = column("low"), high = column("high");
  for (const auto& row : similarity.rows)
    rows.push_back({place(row[encoding]), row[relation], row[content], row[computation], whole(row[length]),
                    whole(row[layer], kMostLayers), number(row[divergence]), number(row[low]), number(row[high])});
  const JsonObject summary(similarity.summary, "similarity.json");
  for (const Json& entry : summary.array("mean_over_layers")) {
    const JsonObject mean(entry, "similarity.json");
    const auto value = [&](const char* key) {
      const std::optional<double> found = mean.find_number(key);
      return found ? number(fmt::format("{}", *found)) : Json(nullptr);
    };
    rows.push_back({place(mean.text("other_encoding")), mean.text("relation"), mean.text("content"),
                    mean.text("computation"), mean.whole("length"), 0, value("divergence"), value("low"),
                    value("high")});
  }
  return {{"rows", std::move(rows)}};
}

}  // namespace

nlohmann::ordered_json analysis_data(const Results& results, const Comparison& comparison,
                                     std::vector<std::string>& notes) {
  Json data = Json::object();
  HeadAtlas atlas;
  for (size_t i = 0; i < results.runs.size(); ++i) {
    if (results.runs[i].state != StoredState::finished) continue;
    for (const StoredAnalysis& analysis : read_analyses(results.runs[i].folder, notes)) {
      try {
        if (analysis.name == "heads") {
          atlas.add(i, analysis, results.runs[i].split + "\n" + results.runs[i].encoding);
          continue;
        }
        Json entry = analysis.name == "probe"        ? probe_json(analysis)
                     : analysis.name == "similarity" ? similarity_json(analysis, comparison)
                                                     : Json();
        if (entry.is_null()) continue;
        entry["run"] = i;
        data[analysis.name].push_back(std::move(entry));
      } catch (const UserError& error) {
        notes.push_back(
            fmt::format("The {} of {} cannot be shown: {}", analysis.name, results.runs[i].name, error.what()));
      }
    }
  }
  if (!atlas.empty()) data["heads"] = atlas.take();
  return data;
}

}  // namespace lengthwise
