#include "report/write_report.h"

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files.h"
#include "core/version.h"
#include "ranking/answer.h"
#include "ranking/perplexity_ranking.h"
#include "report/analysis_data.h"
#include "report/content_policy.h"
#include "report/first_screen.h"
#include "report/html.h"
#include "report/page_sources.h"
#include "report/perplexity_data.h"
#include "results/tidy.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;

/// The table beside a page, which may replace an earlier one and nothing else.
fs::path table_beside(const fs::path& page, bool usual) {
  fs::path table = usual ? page.parent_path() / "results.csv" : fs::path(page).replace_extension(".csv");
  if (table == page) fail("--out {} is the name of the table beside the page; a page is called NAME.html", shown(page));
  if (is_there(table) && !is_tidy_csv(read_file(table))) {
    fail("{} is not a table of results and would be overwritten; give the page another name with --out", shown(table));
  }
  return table;
}

}  // namespace

std::string report_html(const Results& results, const Comparison& comparison, const std::string& answer,
                        const std::string& csv_name, const Findings& findings) {
  const std::string question =
      results.title.empty() ? "Which positional encoding lets a decoder trained on short sequences work on longer ones?"
                            : results.title;
  // Both as they will stand in the page: the policy names their hashes.
  const std::string style = "\n" + std::string(kPageCss) + "\n" + colours_css(comparison);
  const std::string script = "\n" + std::string(kPageJs);
  const std::string unfit = comparison.options.fit ? "is left out" : "is ranked like the others, with a warning";
  return fill_template(kPageHtml, {{"name", html(results.name)},
                                   {"policy", html(content_policy(style, script))},
                                   {"question", html(question)},
                                   {"answer", html(answer)},
                                   {"ranking", ranking_html(comparison)},
                                   {"facts", facts_html(results, comparison)},
                                   {"cautions", cautions_html(results, comparison)},
                                   {"choices", choices_html(comparison)},
                                   {"fit", fmt::format("{}", comparison.fit())},
                                   {"unfit", unfit},
                                   {"resamples", std::to_string(comparison.options.resamples)},
                                   {"version", html(kVersion)},
                                   {"csv", html(csv_name)},
                                   {"style", style},
                                   {"script", script},
                                   {"data", script_json(report_data(results, comparison, findings))}});
}

Results load_for_report(const fs::path& study_folder, const ReportOptions& options) {
  return load_results(study_folder, {.weights = options.weights, .curves = true, .examples = true});
}

fs::path write_report(const Results& results, const fs::path& study_folder, const ReportOptions& options) {
  const bool usual = options.out.empty();
  fs::path page = usual ? study_folder / "report.html" : options.out;
  const fs::path table = table_beside(page, usual);
  Results noted = results;
  const std::vector<Score> scores = scores_of(results, noted.notes);
  const Comparison comparison = compare_scores(scores, options.compare);
  const Findings findings{analysis_data(results, comparison, noted.notes),
                          perplexity_data(results, options.weights, noted.notes)};
  const bool text = comparison.categories == std::vector<std::string>{"text"};
  std::string answer = text ? perplexity_answer(rank_perplexity(scores)) : "";
  if (answer.empty()) answer = answer_of(comparison);
  write_file(page, report_html(noted, comparison, answer, table.filename().string(), findings));
  write_file(table, tidy_csv(results));
  return page;
}

fs::path write_report(const fs::path& study_folder, const ReportOptions& options) {
  return write_report(load_for_report(study_folder, options), study_folder, options);
}

void write_report(const fs::path& study_folder) {
  write_report(study_folder, ReportOptions{});
}

}  // namespace lengthwise
