#include "report/head_data.h"

#include <algorithm>

#include "core/base64.h"
#include "core/config.h"
#include "core/error.h"

namespace lengthwise {
namespace {

constexpr int64_t kMostPlaces = 1000;  // layers, heads, sides of a map, points of a profile
constexpr size_t kNumbersOfCell = 9;   // what is left of a thinned one

/// Four digits are plenty for a chart.
Json rounded(const std::optional<double>& value) {
  if (!value) return nullptr;
  double result = 0;
  from_text(fmt::format("{:.4g}", *value), result);
  return result;
}

Json curve(const JsonObject& head, const char* key) {
  if (!head.has(key)) return nullptr;
  const Json& values = head.array(key);
  if (values.size() > kMostPlaces) head.fail_at(key, fmt::format("at most {} numbers", kMostPlaces));
  Json list = Json::array();
  for (const Json& value : values) {
    if (!value.is_null() && !value.is_number()) head.fail_at(key, "a list of numbers");
    list.push_back(value.is_null() ? Json(nullptr) : rounded(value.get<double>()));
  }
  return list;
}

Json cell_of(const JsonObject& head) {
  const auto number = [&](const char* key) { return rounded(head.find_number(key)); };
  const bool fitted = head.has("family");
  return {head.text("class"),
          head.flag("positional"),
          number("survives"),
          number("entropy"),
          number("distance"),
          fitted ? Json(head.text("family")) : Json(nullptr),
          fitted && head.flag("contested"),
          number("slope"),
          number("r2"),
          head.whole("distances", 0),
          curve(head, "profile"),
          curve(head, "fitted")};
}

/// Every head once for each content and length, or the grid would have holes.
Json groups_of(const std::vector<JsonObject>& list, int64_t layers, int64_t heads) {
  std::vector<Json> groups;
  const auto cells = static_cast<size_t>(layers * heads);
  if (cells > list.size()) fail("heads.json does not have every head");
  for (const JsonObject& head : list) {
    const std::string& content = head.text("content");
    const int64_t length = head.whole("length", 1);
    auto found = std::find_if(groups.begin(), groups.end(), [&](const Json& group) {
      return group["content"] == content && group["length"] == length;
    });
    if (found == groups.end()) {
      if ((groups.size() + 1) * cells > list.size()) fail("heads.json does not have every head");
      groups.push_back({{"content", content}, {"length", length}, {"cells", std::vector<Json>(cells)}});
      found = groups.end() - 1;
    }
    Json& cell = (*found)["cells"][static_cast<size_t>((head.whole("layer") - 1) * heads + head.whole("head") - 1)];
    if (!cell.is_null()) fail("heads.json has a head twice");
    cell = cell_of(head);
  }
  if (groups.size() * cells != list.size()) fail("heads.json does not have every head");
  return groups;
}

/// The rows of a square map, each up to the diagonal.
std::string packed(const JsonObject& map, const Json& text, size_t side) {
  const std::optional<std::string> bytes =
      text.is_string() ? from_base64(text.get_ref<const std::string&>()) : std::nullopt;
  if (!bytes || bytes->size() != side * side) map.fail_at("maps", fmt::format("base64 of {0} x {0} bytes", side));
  std::string triangle;
  for (size_t row = 0; row < side; ++row) triangle.append(*bytes, row * side, row + 1);
  return base64(triangle);
}

Json map_of(const JsonObject& map, int64_t layers, int64_t heads) {
  const int64_t side = map.whole("side", 1, kMostPlaces);
  const int64_t tokens = map.whole("tokens", side);
  const Json& words = map.array("words");
  const auto is_text = [](const Json& word) { return word.is_string(); };
  if (static_cast<int64_t>(words.size()) != tokens || !std::all_of(words.begin(), words.end(), is_text))
    map.fail_at("words", fmt::format("{} texts", tokens));
  Json cells = Json::array();
  for (const Json& layer : map.array("maps")) {
    if (!layer.is_array() || static_cast<int64_t>(layer.size()) != heads) break;
    for (const Json& text : layer) cells.push_back(packed(map, text, static_cast<size_t>(side)));
  }
  if (static_cast<int64_t>(cells.size()) != layers * heads) map.fail_at("maps", "one map of every head");
  return {{"length", map.whole("length", 1)}, {"side", side}, {"tokens", tokens}, {"words", words}, {"cells", cells}};
}

size_t text_of(const Json& entry) {
  size_t sum = 1;
  for (const Json& map : entry["maps"]) {
    for (const Json& cell : map["cells"]) sum += cell.get_ref<const std::string&>().size();
  }
  return sum;
}

}  // namespace

void HeadAtlas::add(size_t run, const StoredAnalysis& heads, const std::string& alike) {
  const JsonObject summary(heads.summary, "heads.json");
  std::vector<JsonObject> list;
  int64_t layers = 0, across = 0;
  for (const Json& value : summary.array("heads")) {
    list.emplace_back(value, "heads.json");
    layers = std::max(layers, list.back().whole("layer", 1, kMostPlaces));
    across = std::max(across, list.back().whole("head", 1, kMostPlaces));
  }
  if (list.empty()) fail("heads.json has no heads");
  Json entry = {
      {"run", run},      {"trained", heads.trained_length},           {"weights", heads.weights}, {"layers", layers},
      {"heads", across}, {"groups", groups_of(list, layers, across)}, {"maps", Json::array()}};
  if (summary.has("maps")) {
    for (const Json& map : summary.array("maps")) {
      entry["maps"].push_back(map_of(JsonObject(map, "heads.json"), layers, across));
    }
  }
  const size_t map_text = text_of(entry);
  entries_.push_back({.json = std::move(entry), .turn = turns_[alike]++, .map_text = map_text});
  thin();
}

/// Takes maps away, from the least wanted first, until what is left is not too much.
void HeadAtlas::thin() {
  while (true) {
    size_t runs = 0, text = 0;
    Entry* least = nullptr;
    for (Entry& entry : entries_) {
      if (entry.map_text == 0) continue;
      ++runs;
      text += entry.map_text;
      if (!least || entry.turn >= least->turn) least = &entry;
    }
    if (!least || (runs <= kMostMappedRuns && text <= kMostMapText)) return;
    least->map_text = 0;
    least->json["maps"] = Json::array();
    least->json["thinned"] = true;
    for (Json& group : least->json["groups"]) {
      for (Json& cell : group["cells"]) cell.erase(cell.begin() + kNumbersOfCell, cell.end());
    }
  }
}

Json HeadAtlas::take() {
  Json list = Json::array();
  for (Entry& entry : entries_) list.push_back(std::move(entry.json));
  entries_.clear();
  return list;
}

}  // namespace lengthwise
