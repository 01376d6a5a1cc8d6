#include "report/write_report.h"

#include <nlohmann/json.hpp>

#include "core/files.h"
#include "core/version.h"
#include "ranking/answer.h"
#include "report/first_screen.h"
#include "report/html.h"
#include "report/page_sources.h"
#include "report/report_data.h"
#include "results/tidy.h"

namespace lengthwise {

std::string report_html(const Results& results, const Comparison& comparison) {
  const std::string question =
      results.title.empty() ? "Which positional encoding lets a decoder trained on short sequences work on longer ones?"
                            : results.title;
  return fill_template(kPageHtml, {{"name", html(results.name)},
                                   {"question", html(question)},
                                   {"answer", html(answer_of(comparison))},
                                   {"ranking", ranking_html(comparison)},
                                   {"facts", facts_html(results, comparison)},
                                   {"cautions", cautions_html(results, comparison)},
                                   {"fit", fmt::format("{:.2f}", comparison.options.fit)},
                                   {"resamples", std::to_string(comparison.options.resamples)},
                                   {"version", html(kVersion)},
                                   {"colours", colours_css(comparison)},
                                   {"style", std::string(kPageCss)},
                                   {"script", std::string(kPageJs)},
                                   {"data", script_json(report_data(results, comparison))}});
}

std::filesystem::path write_report(const std::filesystem::path& study_folder, const ReportOptions& options) {
  Results results = load_results(study_folder, {.weights = options.weights, .curves = true, .examples = true});
  const std::vector<Score> scores = scores_of(results, results.notes);
  const Comparison comparison = compare_scores(scores, options.compare);
  std::filesystem::path out = options.out.empty() ? study_folder / "report.html" : options.out;
  write_file(out, report_html(results, comparison));
  write_file(out.parent_path() / "results.csv", tidy_csv(results));
  return out;
}

void write_report(const std::filesystem::path& study_folder) {
  write_report(study_folder, ReportOptions{});
}

}  // namespace lengthwise
