#pragma once
/// What an analysis leaves in the folder of a run: RUN/analysis/NAME.csv, one tidy table, and RUN/analysis/NAME.json,
/// which says how it was made, sums it up and vouches for the table by its checksum (docs/formats.md). The JSON file is
/// written last: where it is, the table is whole.
#include <filesystem>
#include <string>
#include <vector>

#include "analysis/subject.h"
#include "core/json.h"

namespace lengthwise {

/// What a table and its summary say of the run.
struct AnalysedRun {
  std::string name, task, encoding;
  int64_t seed = 0;
  std::string weights;  ///< best or last
  int64_t step = 0;     ///< of these weights
  int64_t trained_length = 0;
};

struct AnalysisOutput {
  std::filesystem::path folder;  ///< of the run
  int64_t version = 1;           ///< of the analysis's table; one more whenever a column changes its meaning
  AnalysedRun run;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  ///< as texts; numbers by `number_cell`
  Json summary = Json::object();               ///< the analysis's own
  std::vector<std::string> notes;              ///< one line each: what was left out, and why
  std::string shown;                           ///< tables for the terminal
};

/// An output of this run that is still empty.
AnalysisOutput output_of(const Subject& subject);

/// Seven digits, enough for a float; empty where it is not finite.
std::string number_cell(double value);

/// The table with the columns run, task, encoding and seed in front.
std::string analysis_csv(const AnalysisOutput& output);

/// Writes both files. `name` is the analysis's; `options` says how it was asked for.
void write_analysis(const std::string& name, const Json& options, const AnalysisOutput& output);

/// The object of NAME.json, sealed.
Json analysis_json(const std::string& name, const Json& options, const AnalysisOutput& output, const std::string& csv);

}  // namespace lengthwise
