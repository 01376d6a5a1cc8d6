#include "results/analysis_file.h"

#include <algorithm>

#include "core/checksum.h"
#include "core/config.h"
#include "core/error.h"
#include "core/files.h"
#include "results/csv.h"

namespace lengthwise {

size_t StoredAnalysis::column(std::string_view wanted) const {
  const auto found = std::find(columns.begin(), columns.end(), wanted);
  if (found == columns.end()) fail("{}.csv has no column '{}'", name, wanted);
  return static_cast<size_t>(found - columns.begin());
}

namespace {

/// The latest version of an analysis's table that is understood here.
int64_t latest_version(const std::string& name) {
  return name == "similarity" ? 2 : 1;
}

/// As later versions do; the first counted heads from 0 here, and from 1 everywhere else.
void count_heads_from_one(StoredAnalysis& similarity) {
  for (const char* column : {"head", "other_head"}) {
    const size_t at = similarity.column(column);
    for (std::vector<std::string>& row : similarity.rows) {
      int64_t head = 0;
      from_text(row[at], head);
      row[at] = std::to_string(head + 1);
    }
  }
}

}  // namespace

StoredAnalysis read_analysis(const std::filesystem::path& run, const std::string& name) {
  const std::filesystem::path path = run / "analysis" / (name + ".json");
  const std::filesystem::path table = run / "analysis" / (name + ".csv");
  const Json json = parse_json(read_file(path), shown(path));
  check_seal(json, shown(path));
  const JsonObject object(json, shown(path));
  if (object.find_text("format") != "lengthwise-analysis") fail("{} is not the summary of an analysis", shown(path));
  const int64_t version = object.whole("version", 1);
  if (version > latest_version(name)) fail("{} was written by a later version", shown(path));
  const std::string csv = read_file(table);
  if (object.find_text("csv").value_or(checksum_of(csv)) != checksum_of(csv))
    fail("{} is damaged: its checksum is not the one in {}", shown(table), path.filename().string());
  StoredAnalysis analysis;
  analysis.name = name;
  analysis.weights = object.text("weights");
  analysis.trained_length = object.whole("trained_length", 0);
  analysis.summary = object.object("summary").value();
  CsvReader reader(csv, shown(table));
  analysis.columns = reader.header().fields;
  for (CsvRow row; reader.next(row);) {
    for (std::string& field : row.fields) field = std::string(cell_text(field));
    analysis.rows.push_back(std::move(row.fields));
  }
  if (name == "similarity" && version == 1) count_heads_from_one(analysis);
  return analysis;
}

std::vector<StoredAnalysis> read_analyses(const std::filesystem::path& run, std::vector<std::string>& notes) {
  std::vector<StoredAnalysis> found;
  if (!is_folder(run / "analysis")) return found;
  for (const std::filesystem::path& path : list_folder(run / "analysis")) {
    if (path.extension() != ".json") continue;
    try {
      found.push_back(read_analysis(run, path.stem().string()));
    } catch (const UserError& error) {
      notes.push_back(fmt::format("An analysis is left out: {}; make it again", error.what()));
    }
  }
  return found;
}

}  // namespace lengthwise
