#pragma once
/// report.html: one file that needs nothing else.
#include <filesystem>
#include <string>

#include "report/report_data.h"

namespace lengthwise {

struct ReportOptions {
  CompareOptions compare = {};
  std::string weights = "best";    ///< or `last`
  std::filesystem::path out = {};  ///< empty: report.html in the folder
};

/// The whole page. The same results give the same bytes. `answer`: the sentence above the ranking.
std::string report_html(const Results& results, const Comparison& comparison, const std::string& answer,
                        const std::string& csv_name, const Findings& findings);

/// Loads a study (or any folder with runs, load_results.h) and writes DIR/report.html and DIR/results.csv.
void write_report(const std::filesystem::path& study_folder);

/// The same with options; gives the path of the page. Beside report.html in the folder stands results.csv, beside any
/// other page PAGE.html a PAGE.csv. UserError where that name belongs to a file which is not such a table.
std::filesystem::path write_report(const std::filesystem::path& study_folder, const ReportOptions& options);

/// Its two halves, for those who want to know what could not be read.
Results load_for_report(const std::filesystem::path& study_folder, const ReportOptions& options);
std::filesystem::path write_report(const Results& results, const std::filesystem::path& study_folder,
                                   const ReportOptions& options);

}  // namespace lengthwise
