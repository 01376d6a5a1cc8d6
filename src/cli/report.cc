#include <iostream>
#include <memory>

#include "cli/commands.h"
#include "cli/damaged_runs.h"
#include "cli/options.h"
#include "core/files.h"
#include "report/write_report.h"

namespace lengthwise {
namespace {

struct ReportCommand {
  std::string folder;
  std::string out;
  ReportOptions options;

  template <class Visitor>
  void visit(Visitor&& field) {
    field(
        "out", out,
        "the page to write; by default report.html in the folder, with results.csv beside it; PAGE.html has PAGE.csv");
    field("weights", options.weights, "best or last");
    field("ties", options.compare.ties, kTiesHelp);
    field("fit", options.compare.fit,
          "leave out runs with less accuracy than this on the training lengths; without it those under 0.9 are ranked "
          "like the others, with a warning");
    field("resamples", options.compare.resamples, "resamples of the bootstrap intervals");
  }
};

}  // namespace

void add_report_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("report", "write a page with all results of a study");
  auto config = std::make_shared<ReportCommand>();
  command->add_option("DIR", config->folder, "a study, or any folder with runs in it")->required();
  add_options(*command, *config);
  command->callback([config] {
    config->options.out = config->out;
    const Results results = load_for_report(config->folder, config->options);
    std::cout << shown(write_report(results, config->folder, config->options)) << '\n';
    end_with_damaged(results);
  });
}

}  // namespace lengthwise
