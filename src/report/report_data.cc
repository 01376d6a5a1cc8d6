#include "report/report_data.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/text.h"
#include "report/families.h"
#include "report/palette.h"
#include "results/run_costs.h"

namespace lengthwise {
namespace {

using Json = nlohmann::ordered_json;

/// More points than this are not seen in a chart of this size.
constexpr size_t kCurvePoints = 80;
/// Prompts with long scratchpads are cut.
constexpr size_t kExampleBytes = 700;

/// Six digits are plenty for ends of intervals and for curves.
double shortened(double value) {
  return std::isfinite(value) ? std::stod(fmt::format("{:.6g}", value)) : 0.0;
}

Json json_of(const Estimate& estimate) {
  return {estimate.value, shortened(estimate.low), shortened(estimate.high)};
}

Json json_of(const std::optional<Estimate>& estimate) {
  return estimate ? json_of(*estimate) : Json(nullptr);
}

Json json_of(const std::optional<int64_t>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json json_of(const std::vector<std::optional<Estimate>>& estimates) {
  Json array = Json::array();
  for (const auto& estimate : estimates) array.push_back(json_of(estimate));
  return array;
}

template <class Items, class IsIt>
Json place_of(const Items& items, IsIt is_it) {
  const auto found = std::find_if(items.begin(), items.end(), is_it);
  return found == items.end() ? Json(nullptr) : Json(found - items.begin());
}

Json families_json(const Comparison& comparison) {
  Json array = Json::array();
  for (const Family& family : families_among(comparison.families)) array.push_back({{"label", family.label}});
  return array;
}

Json encodings_json(const Comparison& comparison) {
  Json array = Json::array();
  const std::vector<LineStyle> styles = line_styles(comparison);
  const std::vector<Family> families = families_among(comparison.families);
  for (size_t e = 0; e < styles.size(); ++e) {
    array.push_back(
        {{"name", comparison.encodings[e]},
         {"label", comparison.labels[e]},
         {"family", place_of(families, [&](const Family& one) { return one.name == comparison.families[e]; })},
         {"dash", styles[e].dash},
         {"marker", styles[e].marker}});
  }
  return array;
}

/// By encoding: time of a step in those of NoPE, its milliseconds, parameters more than NoPE; empty where nobody knows
/// what NoPE takes.
Json costs_json(const Results& results, const Comparison& comparison) {
  const std::vector<EncodingCost> costs = encoding_costs(results, comparison.encodings);
  Json array = Json::array();
  if (std::none_of(costs.begin(), costs.end(), [](const EncodingCost& cost) { return cost.step_time.has_value(); }))
    return array;
  const auto number = [](const std::optional<double>& value, double factor) {
    return value ? Json(shortened(factor * *value)) : Json(nullptr);
  };
  for (const EncodingCost& cost : costs)
    array.push_back({number(cost.step_time, 1), number(cost.step_seconds, 1000), json_of(cost.more_parameters)});
  return array;
}

Json splits_json(const Results& results, const Comparison& comparison) {
  Json array = Json::array();
  for (const ComparedSplit& split : comparison.splits) {
    std::string unit;
    for (const StoredRun& run : results.runs) {
      if (run.split == split.name) unit = run.unit;
    }
    array.push_back({{"name", split.name},
                     {"category", split.category},
                     {"limit", json_of(split.train_limit)},
                     {"unit", unit},
                     {"seeds", split.seeds}});
  }
  return array;
}

Json cells_json(const Comparison& comparison) {
  Json array = Json::array();
  for (const ComparedCell& cell : comparison.cells) {
    Json object = {{"split", cell.split},
                   {"encoding", cell.encoding},
                   {"seeds", cell.seeds},
                   {"longer", json_of(cell.longer)},
                   {"trained", json_of(cell.trained)},
                   {"unfit", cell.unfit_seeds.size()}};
    if (cell.curve) {
      const LengthEstimate& half = cell.curve->under_half;
      object["half"] = {json_of(half.value), json_of(half.low), json_of(half.high)};
      Json lengths = Json::array();
      for (const CurveLength& point : cell.curve->lengths) {
        lengths.push_back({point.length, point.longer ? 0 : 1, point.count, point.accuracy.value,
                           shortened(point.accuracy.low), shortened(point.accuracy.high)});
      }
      object["lengths"] = std::move(lengths);
    }
    array.push_back(std::move(object));
  }
  return array;
}

Json ranking_json(const Comparison& comparison) {
  Json array = Json::array();
  for (const RankedEncoding& ranked : comparison.ranking) {
    array.push_back({{"encoding", ranked.encoding},
                     {"mrr", json_of(ranked.mrr)},
                     {"category_mrr", json_of(ranked.category_mrr)},
                     {"longer", json_of(ranked.longer)},
                     {"trained", json_of(ranked.trained)}});
  }
  return array;
}

Json pairs_json(const Comparison& comparison) {
  Json array = Json::array();
  for (const ComparedPair& pair : comparison.pairs) {
    array.push_back({{"better", pair.better},
                     {"worse", pair.worse},
                     {"difference", json_of(pair.difference)},
                     {"queries", pair.test.queries},
                     {"p", pair.test.p},
                     {"holm", pair.holm},
                     {"exact", pair.test.exact}});
  }
  return array;
}

/// [[steps...], [values...]]
Json curve_json(const std::vector<CurvePoint>& points) {
  Json steps = Json::array();
  Json values = Json::array();
  for (const CurvePoint& point : thin_curve(points, kCurvePoints)) {
    steps.push_back(point.step);
    values.push_back(shortened(point.value));
  }
  return {std::move(steps), std::move(values)};
}

/// The options that all runs share.
Json common_options(const Results& results) {
  Json common = Json::object();
  const auto first =
      std::find_if(results.runs.begin(), results.runs.end(), [](const StoredRun& run) { return !run.options.empty(); });
  if (first == results.runs.end()) return common;
  for (const auto& option : first->options) {
    const bool shared = std::all_of(results.runs.begin(), results.runs.end(), [&](const StoredRun& run) {
      return run.options.empty() || run.option(option.first) == option.second;
    });
    if (shared) common[option.first] = option.second;
  }
  return common;
}

/// Why a finished run is not among those compared; "" for one that is.
std::string aside(const StoredRun& run, const Comparison& comparison) {
  if (run.state != StoredState::finished) return "";
  if (run.repeats) return "repeats another";
  const TunedChoice* choice = comparison.choice(run.split, run.encoding);
  if (choice != nullptr && choice->tried[choice->chosen].value != run.tuned) return "not chosen";
  for (const LeftOut& left_out : comparison.left_out) {
    const bool listed = std::find(left_out.seeds.begin(), left_out.seeds.end(), run.seed) != left_out.seeds.end();
    if (left_out.split == run.split && left_out.encoding == run.encoding && listed) return "left out";
  }
  return "";
}

/// 0: test examples longer than any in training, 1: validation examples, 2: test examples that are not longer.
int kind_of(const LengthCount& counts, const StoredRun& run) {
  if (counts.validation) return 1;
  return is_longer(counts, run.train_limit) ? 0 : 2;
}

Json run_json(const StoredRun& run, const Comparison& comparison, const Json& common) {
  Json object = {{"name", run.name}, {"state", to_text(run.state)}, {"task", run.task}, {"seed", run.seed}};
  object["encoding"] = place_of(comparison.encodings, [&](const std::string& name) { return name == run.encoding; });
  object["encoding_name"] = run.encoding;
  object["split"] = place_of(comparison.splits, [&](const ComparedSplit& split) { return split.name == run.split; });
  object["split_name"] = run.split;
  object["step"] = run.step;
  object["steps"] = run.steps;
  if (!run.reason.empty()) object["reason"] = run.reason;
  if (!run.tuned.empty()) object["tuned"] = run.tuned;
  if (!aside(run, comparison).empty()) object["aside"] = aside(run, comparison);
  if (run.seconds) object["seconds"] = shortened(*run.seconds);
  if (run.parameters > 0) object["parameters"] = run.parameters;
  if (!run.decoding.empty()) object["decoding"] = run.decoding;
  if (run.weights_step > 0) object["weights_step"] = run.weights_step;
  Json options = Json::object();
  for (const auto& [key, value] : run.options) {
    if (!common.contains(key)) options[key] = value;
  }
  object["options"] = std::move(options);
  Json lengths = Json::array();
  for (const LengthResult& row : run.lengths) {
    lengths.push_back({row.counts.length, kind_of(row.counts, run), row.counts.count, row.counts.correct});
  }
  object["lengths"] = std::move(lengths);
  if (!run.loss.empty()) object["loss"] = curve_json(run.loss);
  if (!run.validation.empty()) object["validation"] = curve_json(run.validation);
  Json examples = Json::array();
  for (const AnsweredExample& example : run.examples) {
    examples.push_back({{"length", example.length},
                        {"prompt", excerpt(example.prompt, kExampleBytes)},
                        {"target", excerpt(example.target, kExampleBytes)},
                        {"answer", excerpt(example.answer, kExampleBytes)},
                        {"correct", example.correct}});
  }
  if (!examples.empty()) object["examples"] = std::move(examples);
  return object;
}

}  // namespace

std::vector<CurvePoint> thin_curve(const std::vector<CurvePoint>& points, size_t most) {
  if (points.size() <= most) return points;
  std::vector<CurvePoint> thinned;
  for (size_t part = 0; part < most; ++part) {
    const size_t begin = part * points.size() / most;
    const size_t end = (part + 1) * points.size() / most;
    double sum = 0;
    for (size_t i = begin; i < end; ++i) sum += points[i].value;
    thinned.push_back({points[end - 1].step, sum / static_cast<double>(end - begin)});
  }
  return thinned;
}

Json report_data(const Results& results, const Comparison& comparison, Findings findings) {
  Json data = {{"name", results.name}};
  data["many"] = comparison.encodings.size() > kFewEncodings;
  data["families"] = families_json(comparison);
  data["encodings"] = encodings_json(comparison);
  data["categories"] = comparison.categories;
  data["splits"] = splits_json(results, comparison);
  data["cells"] = cells_json(comparison);
  data["ranking"] = ranking_json(comparison);
  data["pairs"] = pairs_json(comparison);
  data["costs"] = costs_json(results, comparison);
  const Json common = common_options(results);
  data["common"] = common;
  Json runs = Json::array();
  for (const StoredRun& run : results.runs) runs.push_back(run_json(run, comparison, common));
  data["runs"] = std::move(runs);
  data["analyses"] = std::move(findings.analyses);
  data["perplexity"] = std::move(findings.perplexity);
  return data;
}

}  // namespace lengthwise
