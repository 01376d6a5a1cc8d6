#include "analysis/head_tables.h"

#include <algorithm>
#include <map>

#include "core/table.h"
#include "core/text.h"

namespace lengthwise {
namespace {

std::string likeness(const std::string& family) {
  if (family == "constant") return "flat, as NoPE";
  if (family == "linear") return "like ALiBi";
  if (family == "log") return "like KERPLE (log)";
  if (family == "power") return "like KERPLE (power)";
  if (family == "buckets") return "like T5";
  if (family == "cosines") return "like sinusoids";
  if (family == "geometric") return "like RoPE";
  if (family == "square") return "like a window";
  if (family == "exponentials") return "like RetNet";
  return "a damped wave";
}

/// 64 numbers at most, for the distances 0, 1, ...: each the mean of those that fall together, null where there are
/// none because `profile` begins at a later distance.
Json thinned(const std::vector<double>& profile, size_t first = 0) {
  constexpr size_t kMost = 64;
  const size_t distances = first + profile.size();
  const size_t count = std::min(kMost, distances);
  Json list = Json::array();
  for (size_t k = 0; k < count; ++k) {
    const size_t begin = std::max(first, distances * k / count);
    const size_t end = distances * (k + 1) / count;
    double sum = 0;
    for (size_t d = begin; d < end; ++d) sum += profile[d - first];
    list.push_back(end > begin ? Json(sum / static_cast<double>(end - begin)) : Json(nullptr));
  }
  return list;
}

Json summary_of(const std::vector<HeadRow>& rows) {
  Json heads = Json::array();
  for (const HeadRow& row : rows) {
    Json entry = {{"content", to_text(row.content)},
                  {"length", row.length},
                  {"layer", row.layer},
                  {"head", row.head},
                  {"class", row.head_class},
                  {"positional", row.positional},
                  {"survives", row.measures.survives},
                  {"entropy", row.entropy},
                  {"distance", row.distance}};
    if (row.fit) {
      entry["family"] = row.fit->family;
      entry["contested"] = row.fit->contested;
      entry["slope"] = row.fit->slope;
      entry["r2"] = row.fit->held_out_r2;
      entry["fitted"] = thinned(row.fit->fitted, row.profile.size() - row.fit->fitted.size());
    }
    entry["distances"] = row.profile.size();
    entry["profile"] = thinned(row.profile);
    heads.push_back(std::move(entry));
  }
  return heads;
}

/// How many heads of each class, `3 uniform, 1 previous`.
std::string count_classes(const std::vector<const HeadRow*>& rows) {
  std::map<std::string, int64_t> counts;
  for (const HeadRow* row : rows) ++counts[row->head_class];
  std::vector<std::string> parts;
  for (const auto& [name, count] : counts) parts.push_back(fmt::format("{} {}", count, name));
  return join(parts, ", ");
}

}  // namespace

std::string say_family(const ProfileFit& fit) {
  std::string text = likeness(fit.family);
  if (fit.family == "linear") text += fmt::format(" with slope {:.3g}", fit.slope);
  return fit.contested ? text + ", contested" : text;
}

void tabulate_heads(const std::vector<HeadRow>& rows, AnalysisOutput& output) {
  output.columns = {"content",    "length",    "tokens",        "layer",        "head",      "class",
                    "positional", "offset",    "offset_weight", "offset_least", "diagonal",  "previous",
                    "first",      "near",      "uneven",        "entropy",      "distance",  "furthest",
                    "survives",   "induction", "family",        "contested",    "family_r2", "slope"};
  for (const HeadRow& row : rows) {
    output.rows.push_back({to_text(row.content),
                           std::to_string(row.length),
                           std::to_string(row.tokens),
                           std::to_string(row.layer),
                           std::to_string(row.head),
                           row.head_class,
                           row.positional ? "yes" : "no",
                           std::to_string(row.measures.offset),
                           number_cell(row.measures.offset_weight),
                           number_cell(row.offset_least),
                           number_cell(row.diagonal),
                           number_cell(row.previous),
                           number_cell(row.measures.first),
                           number_cell(row.measures.near),
                           number_cell(row.measures.uneven),
                           number_cell(row.entropy),
                           number_cell(row.distance),
                           number_cell(row.furthest),
                           number_cell(row.measures.survives),
                           number_cell(row.measures.induction),
                           row.fit ? row.fit->family : "",
                           row.fit ? (row.fit->contested ? "yes" : "no") : "",
                           row.fit ? number_cell(row.fit->held_out_r2) : "",
                           row.fit ? number_cell(row.fit->slope) : ""});
  }
  output.summary["heads"] = summary_of(rows);

  const Content told = rows.front().content;
  std::map<int64_t, std::vector<const HeadRow*>> by_length;
  for (const HeadRow& row : rows) {
    if (row.content == told) by_length[row.length].push_back(&row);
  }
  const auto& shortest = by_length.begin()->second;
  // With its own content a task's wording shows in every profile.
  const auto profile_of = [&](const HeadRow& wanted) -> const std::optional<ProfileFit>& {
    const auto found = std::find_if(rows.begin(), rows.end(), [&](const HeadRow& row) {
      return row.content == Content::exchanged && row.length == wanted.length && row.layer == wanted.layer &&
             row.head == wanted.head;
    });
    return found == rows.end() ? wanted.fit : found->fit;
  };
  Table table({"layer", "head", "class", "by position", "entropy", "distance", "survives", "profile over distance"});
  for (const HeadRow* row : shortest) {
    const std::optional<ProfileFit>& fit = profile_of(*row);
    table.add({std::to_string(row->layer), std::to_string(row->head), row->head_class, row->positional ? "yes" : "no",
               fmt::format("{:.3f}", row->entropy), fmt::format("{:.3f}", row->distance),
               fmt::format("{:.3f}", row->measures.survives), fit ? say_family(*fit) : ""});
  }
  output.shown =
      fmt::format("{}, {}: heads at length {} ({} tokens); profiles with exchanged content\n{}", output.run.name,
                  output.run.encoding, shortest.front()->length, shortest.front()->tokens, table.to_string());
  for (const auto& [length, heads] : by_length)
    output.shown += fmt::format("length {}: {}\n", length, count_classes(heads));
}

}  // namespace lengthwise
