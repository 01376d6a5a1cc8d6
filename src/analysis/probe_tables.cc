#include "analysis/probe_tables.h"

#include <algorithm>
#include <cmath>

#include "core/table.h"

namespace lengthwise {
namespace {

/// What one asks for; an empty text or -1 is anything.
struct Wanted {
  std::string content, states, labels, target, probe, fit;
  int64_t layer = -1;
  int64_t length = -1;
};

const ProbeResult* find(const std::vector<ProbeResult>& results, const Wanted& wanted) {
  for (const ProbeResult& result : results) {
    if (result.content == wanted.content && result.states == wanted.states && result.labels == wanted.labels &&
        result.target == wanted.target && result.probe == wanted.probe && result.fit == wanted.fit &&
        (wanted.layer < 0 || result.layer == wanted.layer) && result.length == wanted.length)
      return &result;
  }
  return nullptr;
}

std::string cell(const ProbeResult* result, double Estimate::*part = &Estimate::value) {
  if (result == nullptr || !std::isfinite(result->score.r2.*part)) return "-";
  return fmt::format("{:.3f}", result->score.r2.*part);
}

Json finite(double value) {
  return std::isfinite(value) ? Json(value) : Json();
}

std::vector<int64_t> lengths_of(const std::vector<ProbeResult>& results) {
  std::vector<int64_t> lengths;
  for (const ProbeResult& result : results) lengths.push_back(result.length);
  std::sort(lengths.begin(), lengths.end());
  lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
  return lengths;
}

struct Shown {
  std::string content, target;
};

/// Of every layer: R2 and error at each length, and the controls where the probe does best.
std::string table_of(const std::vector<ProbeResult>& results, const AnalysisInputs& inputs, const Shown& shown,
                     const std::string& title) {
  const std::vector<int64_t> lengths = lengths_of(results);
  std::vector<std::string> header{"probe", "layer"};
  for (const int64_t length : lengths) {
    header.push_back(fmt::format("R2 at {}", length));
    if (length == lengths.front()) header.emplace_back("interval");
    header.emplace_back("error");
    if (length > inputs.trained_length) header.emplace_back("fitted there");
  }
  for (const char* control : {"untrained", "constructed", "shuffled", "token"}) header.emplace_back(control);
  Table table(header);
  int64_t last = 0;
  for (const ProbeResult& result : results) last = std::max(last, result.layer);
  for (const char* probe : {"linear", "nonlinear"}) {
    for (int64_t layer = 0; layer <= last; ++layer) {
      std::vector<std::string> row{probe, std::to_string(layer)};
      Wanted wanted{shown.content, "trained", "true", shown.target, probe, "trained", layer};
      for (const int64_t length : lengths) {
        wanted.length = length;
        wanted.fit = "trained";
        const ProbeResult* found = find(results, wanted);
        row.push_back(cell(found));
        if (length == lengths.front())
          row.push_back(found == nullptr ? "-" : cell(found, &Estimate::low) + " to " + cell(found, &Estimate::high));
        row.push_back(found == nullptr ? "-" : fmt::format("{:.2f}", found->score.error.value));
        wanted.fit = "all";
        if (length > inputs.trained_length) row.push_back(cell(find(results, wanted)));
      }
      wanted.length = lengths.front();
      wanted.fit = lengths.front() > inputs.trained_length ? "all" : "trained";
      for (const char* states : {"untrained", "constructed"}) {
        wanted.states = states;
        row.push_back(cell(find(results, wanted)));
      }
      wanted.states = "trained";
      wanted.labels = "shuffled";
      row.push_back(cell(find(results, wanted)));
      wanted.states = "token";
      wanted.labels = "true";
      wanted.layer = 0;
      row.push_back(cell(find(results, wanted)));
      table.add(row);
    }
  }
  return title + "\n" + table.to_string() + "\n";
}

/// Of the layer at which the probe reads most at the shortest length: its scores there and at the longest, beside the
/// controls of the same layer.
Json best_layer(const std::vector<ProbeResult>& results, const AnalysisInputs& inputs, const Shown& shown,
                const std::string& probe) {
  const std::vector<int64_t> lengths = lengths_of(results);
  const std::string fit = lengths.front() > inputs.trained_length ? "all" : "trained";
  const ProbeResult* best = nullptr;
  for (const ProbeResult& result : results) {
    if (result.content != shown.content || result.target != shown.target || result.probe != probe ||
        result.fit != fit || result.length != lengths.front() || result.states != "trained" || result.labels != "true")
      continue;
    if (best == nullptr || result.score.r2.value > best->score.r2.value) best = &result;
  }
  if (best == nullptr) return nullptr;
  Wanted wanted{shown.content, "trained", "true", shown.target, probe, fit, best->layer, lengths.front()};
  const auto r2 = [&] {
    const ProbeResult* found = find(results, wanted);
    return found == nullptr ? Json() : finite(found->score.r2.value);
  };
  Json json = {{"content", shown.content},
               {"target", shown.target},
               {"probe", probe},
               {"layer", best->layer},
               {"length", lengths.front()},
               {"r2", finite(best->score.r2.value)},
               {"r2_low", finite(best->score.r2.low)},
               {"r2_high", finite(best->score.r2.high)},
               {"error", finite(best->score.error.value)}};
  wanted.length = lengths.back();
  json["longest"] = lengths.back();
  json["r2_longest"] = r2();
  wanted.fit = "all";
  json["r2_longest_fitted_there"] = r2();
  wanted.fit = fit;
  wanted.length = lengths.front();
  for (const char* states : {"untrained", "constructed"}) {
    wanted.states = states;
    json[std::string("r2_") + states] = r2();
  }
  wanted.states = "trained";
  wanted.labels = "shuffled";
  json["r2_shuffled"] = r2();
  wanted.labels = "true";
  wanted.states = "token";
  wanted.layer = 0;
  json["r2_token"] = r2();
  return json;
}

}  // namespace

void tabulate_probes(const std::vector<ProbeResult>& results, const AnalysisInputs& inputs, AnalysisOutput& output) {
  output.columns = {"content", "states",    "labels",     "target",    "probe",  "fit",
                    "layer",   "length",    "where",      "r2",        "r2_low", "r2_high",
                    "error",   "error_low", "error_high", "sequences", "rows",   "penalty"};
  for (const ProbeResult& result : results) {
    const ProbeScore& score = result.score;
    output.rows.push_back({result.content, result.states, result.labels, result.target, result.probe, result.fit,
                           std::to_string(result.layer), std::to_string(result.length), result.where,
                           number_cell(score.r2.value), number_cell(score.r2.low), number_cell(score.r2.high),
                           number_cell(score.error.value), number_cell(score.error.low), number_cell(score.error.high),
                           std::to_string(score.sequences), std::to_string(score.rows),
                           result.probe == "linear" ? number_cell(result.penalty) : ""});
  }
  output.summary = {{"trained_tokens", inputs.trained_tokens}, {"best", Json::array()}};
  const std::string run = fmt::format("{}, {}", output.run.name, output.run.encoding);
  for (const char* content : {"exchanged", "task"}) {
    for (const char* target : {"position", "distance"}) {
      const Shown shown{content, target};
      if (std::none_of(results.begin(), results.end(), [&](const auto& result) { return result.content == content; }))
        continue;
      for (const char* probe : {"linear", "nonlinear"})
        output.summary["best"].push_back(best_layer(results, inputs, shown, probe));
      output.shown += table_of(
          results, inputs, shown,
          fmt::format("{}: {}, {} content, trained up to length {}", run, target, content, inputs.trained_length));
    }
  }
}

}  // namespace lengthwise
