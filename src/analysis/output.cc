#include "analysis/output.h"

#include <cmath>

#include "core/checksum.h"
#include "core/error.h"
#include "core/files.h"
#include "core/version.h"
#include "results/csv.h"
#include "runtime/origin.h"

namespace lengthwise {

AnalysisOutput output_of(const Subject& subject) {
  const TrainConfig& config = subject.run.config;
  AnalysisOutput output;
  output.folder = subject.folder;
  output.run = {subject.name,    data_name(config.data), config.model.compared(), config.seed,
                subject.weights, subject.run.step,       subject.trained_length};
  return output;
}

std::string number_cell(double value) {
  return std::isfinite(value) ? fmt::format("{:.7g}", value) : "";
}

std::string analysis_csv(const AnalysisOutput& output) {
  const std::vector<std::string> before{text_cell(output.run.name), text_cell(output.run.task),
                                        text_cell(output.run.encoding), std::to_string(output.run.seed)};
  std::vector<std::string> header{"run", "task", "encoding", "seed"};
  header.insert(header.end(), output.columns.begin(), output.columns.end());
  std::string csv;
  append_csv_row(csv, header);
  for (const std::vector<std::string>& row : output.rows) {
    LENGTHWISE_CHECK(row.size() == output.columns.size(), "{} cells for {} columns", row.size(), output.columns.size());
    std::vector<std::string> cells = before;
    cells.insert(cells.end(), row.begin(), row.end());
    append_csv_row(csv, cells);
  }
  return csv;
}

Json analysis_json(const std::string& name, const Json& options, const AnalysisOutput& output, const std::string& csv) {
  const AnalysedRun& run = output.run;
  Json json = {{"format", "lengthwise-analysis"},
               {"version", output.version},
               {"analysis", name},
               {"lengthwise", kVersion},
               {"commit", build_commit()},
               {"run", run.name},
               {"task", run.task},
               {"encoding", run.encoding},
               {"seed", run.seed},
               {"weights", run.weights},
               {"step", run.step},
               {"trained_length", run.trained_length}};
  json["options"] = options;
  json["notes"] = output.notes;
  json["summary"] = output.summary;
  json["csv"] = checksum_of(csv);
  seal(json);
  return json;
}

void write_analysis(const std::string& name, const Json& options, const AnalysisOutput& output) {
  const std::filesystem::path folder = output.folder / "analysis";
  make_folder(folder);
  clear_leftovers(folder);
  const std::string csv = analysis_csv(output);
  // An older summary must not vouch for a newer table while the process is killed in between: its checksum would not.
  write_file(folder / (name + ".csv"), csv);
  write_file(folder / (name + ".json"), json_text(analysis_json(name, options, output, csv), 1) + "\n");
}

}  // namespace lengthwise
