#include <iostream>
#include <memory>
#include <set>

#include "cli/commands.h"
#include "cli/comparison_tables.h"
#include "cli/damaged_runs.h"
#include "cli/options.h"
#include "cli/readings_tables.h"
#include "cli/stop_signals.h"
#include "cli/study_display.h"
#include "core/counted.h"
#include "core/error.h"
#include "core/files.h"
#include "core/progress.h"
#include "core/table.h"
#include "model/architectures.h"
#include "model/decoder.h"
#include "report/write_report.h"
#include "study/done.h"
#include "study/estimate.h"
#include "study/jobs.h"
#include "study/select_runs.h"
#include "study/study_folder.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;

struct StudyCommand {
  std::string file;
  std::string out;
  int64_t jobs = 0;
  int64_t threads = 0;
  std::string only;
  Keep keep = Keep::all;
  bool dry_run = false;
  bool quiet = false;

  template <class Visitor>
  void visit(Visitor&& field) {
    field("out", out, "folder of the study; what is there already is kept, what is unfinished is resumed");
    field("jobs", jobs, "runs at once; 0: one per core, on a GPU two of large models and up to eight of small ones");
    field("threads", threads, "CPU threads, divided over the jobs; 0: all cores");
    field("only", only,
          "do these runs alone: names separated by commas, * for any text; the others are left as they are");
    field("keep", keep, "what stays of a finished run: all, or results: no weights, megabytes instead of gigabytes");
    field("dry-run", dry_run, "list the runs with estimated time and disk, and do nothing");
    field("quiet", quiet, "no progress");
  }
};

std::string format_bytes(uint64_t bytes) {
  const auto number = static_cast<double>(bytes);
  if (number < 1e6) return fmt::format("{:.0f} kB", number / 1e3);
  if (number < 1e9) return fmt::format("{:.1f} MB", number / 1e6);
  return fmt::format("{:.1f} GB", number / 1e9);
}

size_t count_selected(const StudyPlan& plan) {
  return static_cast<size_t>(
      std::count_if(plan.runs.begin(), plan.runs.end(), [](const StudyRun& run) { return run.selected; }));
}

void print_estimate(const StudyCommand& command, const StudyPlan& plan) {
  const StudyOptions options{command.jobs, command.threads, command.keep};
  Progress progress(command.quiet ? Progress::Mode::quiet : Progress::Mode::automatic);
  const std::vector<RunCost> costs = estimate_costs(plan, options, [&](size_t done, size_t total) {
    progress.update(static_cast<int64_t>(done), static_cast<int64_t>(total), "timing a few steps of each kind of run");
  });
  Table table({"run", "steps", "parameters", "time", "disk"});
  std::vector<double> seconds;
  double work = 0;
  for (const size_t i : working_order(plan)) {
    if (!command.out.empty() && is_finished(command.out, plan.runs[i])) continue;
    seconds.push_back(costs[i].seconds);
    work += costs[i].seconds;
  }
  for (size_t i = 0; i < plan.runs.size(); ++i) {
    const StudyRun& run = plan.runs[i];
    if (!run.selected) continue;
    const bool finished = !command.out.empty() && is_finished(command.out, run);
    table.add({run.name, std::to_string(run.config.steps),
               format_count(static_cast<double>(count_parameters(run.config.model))),
               finished ? "finished" : format_seconds(costs[i].seconds), format_bytes(costs[i].bytes)});
  }
  std::cout << table.to_string() << '\n'
            << fmt::format("{}, {} to do: about {} with {} of {} ({} of work), {} of disk",
                           counted(count_selected(plan), "run"), seconds.size(),
                           format_seconds(scheduled_seconds(seconds, command.jobs)),
                           counted(static_cast<size_t>(command.jobs), "job"),
                           counted(static_cast<size_t>(threads_per_job(options)), "thread"), format_seconds(work),
                           format_bytes(bytes_to_come(command.out, plan, command.jobs, command.keep)));
  const std::optional<uint64_t> available = free_bytes(command.out.empty() ? "." : command.out);
  if (available) std::cout << fmt::format(", {} free", format_bytes(*available));
  std::cout << '\n';
}

void check_disk(const StudyCommand& command, const StudyPlan& plan) {
  const uint64_t needed = bytes_to_come(command.out, plan, command.jobs, command.keep);
  const std::optional<uint64_t> available = free_bytes(command.out);
  if (available && needed > *available) {
    fail("the study needs {} of disk and {} has {} free; choose another --out{}", format_bytes(needed), command.out,
         format_bytes(*available), command.keep == Keep::all ? ", or --keep results to keep no weights" : "");
  }
}

/// What a study ends with: the ranking, and the path of the report.
Results show_results(const fs::path& study) {
  Results results = load_results(study, {});
  std::vector<std::string> notes = results.notes;
  std::vector<Score> scores = scores_of(results, notes);
  const std::vector<PerplexityRanking> texts = rank_perplexity(take_text(scores));
  std::cout << ranking_text(compare_scores(scores, {}), texts, text_readings(results, texts, "best"));
  const fs::path page = write_report(study, ReportOptions{});
  std::cout << fmt::format("\nall results: {}\ntables:      lengthwise compare {}\n", shown(page), shown(study));
  return results;
}

/// Takes the runs it names out of those that are damaged.
void show_failures(const StudyPlan& plan, const std::vector<BoardEntry>& entries, Results& results) {
  Table table({"failed run", "reason"});
  std::set<std::string> named;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (!plan.runs[i].selected || entries[i].record.state != RecordState::failed) continue;
    table.add({plan.runs[i].name, entries[i].record.reason});
    named.insert(plan.runs[i].name);
  }
  std::cout << '\n' << table.to_string();
  std::erase_if(results.runs, [&](const StoredRun& run) { return named.contains(run.name); });
}

void run(StudyCommand command) {
  constexpr int64_t kMostJobs = 1024;
  if (command.jobs < 0 || command.jobs > kMostJobs)
    fail("--jobs must be between 0 and {}, not {}", kMostJobs, command.jobs);
  constexpr int64_t kMostThreads = 1024;
  if (command.threads < 0 || command.threads > kMostThreads)
    fail("--threads must be between 0 and {}, not {}", kMostThreads, command.threads);
  std::vector<std::string> messages;
  StudyPlan plan = plan_study(read_study_file(command.file), [&](StudyPlan& all) {
    if (!command.only.empty()) messages.push_back(select_runs(command.only, all));
  });
  for (std::string& note : device_notes(plan)) messages.push_back(std::move(note));
  if (command.jobs == 0) command.jobs = suitable_jobs(plan, command.threads);
  if (command.dry_run) {
    for (const std::string& message : messages) {
      if (!command.quiet) std::cerr << message << '\n';
    }
    return print_estimate(command, plan);
  }
  if (command.out.empty()) fail("--out DIR is needed: the folder of the study");
  check_disk(command, plan);
  const fs::path study = command.out;
  const DisplayMode mode = choose_display(command.quiet);
  for (std::string& message : open_study(study, plan)) messages.push_back(std::move(message));
  catch_stop_signals();
  std::vector<BoardEntry> entries;
  {
    StudyDisplay display(plan, study, command.jobs, mode);
    for (const std::string& message : messages) display.line(message);
    entries = run_study(plan, study, {command.jobs, command.threads, command.keep}, display,
                        [] { return stop_signal() != 0; });
  }
  const auto count = [&](RecordState state) {
    size_t runs = 0;
    for (size_t i = 0; i < entries.size(); ++i) {
      if (plan.runs[i].selected && entries[i].record.state == state) ++runs;
    }
    return runs;
  };
  const size_t selected = count_selected(plan);
  const auto failed = count(RecordState::failed);
  const auto finished = count(RecordState::finished);
  if (stop_signal() != 0 && finished + failed < selected) {
    std::cerr << fmt::format("stopped with {} of {} runs finished; the same command goes on from here\n", finished,
                             selected);
    throw Exit{stop_status()};
  }
  Results results;
  if (finished > 0) results = show_results(study);
  if (failed > 0) {
    show_failures(plan, entries, results);
    std::cout << fmt::format("\n{} of {} runs failed; the same command tries them again\n", failed, selected);
  }
  end_with_damaged(results);
  if (failed > 0) throw Exit{};
}

}  // namespace

void add_study_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("study", "train and evaluate every run that a study file asks for");
  auto options = std::make_shared<StudyCommand>();
  command->add_option("FILE", options->file, "study file (TOML); see docs/studies.md")->required();
  add_options(*command, *options);
  command->callback([options] { run(*options); });
}

}  // namespace lengthwise
