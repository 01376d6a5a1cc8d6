/// A study done in pieces: some of its runs, and results without weights.
#include <gtest/gtest.h>

#include "core/error.h"
#include "eval/execute_run.h"
#include "eval/load_run.h"
#include "study/done.h"
#include "study/forecast.h"
#include "study/jobs.h"
#include "study/select_runs.h"
#include "tests/core/temporary_folder.h"
#include "tests/study/small_study.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;

const std::string kEightRuns = "task = ['sort', 'copy']\nencoding = ['nope', 't5']\nseed = [1, 2]\n";

StudyPlan eight_runs() {
  // The small study names a task of its own.
  std::string rest = kSmallRun;
  rest.erase(rest.find("task = \"sort\"\n"), 14);
  return plan_study(parse_study("name = 'small'\n" + kEightRuns + rest, "small.toml"));
}

std::vector<std::string> selected_names(const StudyPlan& plan) {
  std::vector<std::string> names;
  for (const StudyRun& run : plan.runs) {
    if (run.selected) names.push_back(run.name);
  }
  return names;
}

std::string complaint(const std::string& patterns, StudyPlan plan) {
  try {
    select_runs(patterns, plan);
  } catch (const UserError& error) {
    return error.what();
  }
  return "none";
}

/// What a run keeps besides its weights.
const std::vector<std::string> kKept = {"config.json",
                                        "vocabulary.json",
                                        "metrics.jsonl",
                                        "eval.jsonl",
                                        "examples.jsonl",
                                        "summary.json",
                                        "events.out.tfevents.lengthwise"};

TEST(SelectRuns, TakesNamesAndWildcards) {
  StudyPlan plan = eight_runs();
  EXPECT_EQ(select_runs("copy-*-1, sort-t5-2", plan), "--only selects 3 of 8 runs: sort-t5-2, copy-nope-1, copy-t5-1");
  EXPECT_EQ(selected_names(plan), (std::vector<std::string>{"sort-t5-2", "copy-nope-1", "copy-t5-1"}));
  select_runs("*-nope-[2]", plan);
  EXPECT_EQ(selected_names(plan), (std::vector<std::string>{"sort-nope-2", "copy-nope-2"}));
  select_runs("*", plan);
  EXPECT_EQ(selected_names(plan).size(), 8u);
}

TEST(SelectRuns, SaysHowManyMoreWhereTheyAreMany) {
  StudyPlan plan = small_plan("seed = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]\n");
  EXPECT_EQ(select_runs("*", plan), "--only selects 14 of 14 runs: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 and 2 more");
}

TEST(SelectRuns, NamesTheNearestOfWhatFitsNothing) {
  const StudyPlan plan = eight_runs();
  EXPECT_EQ(complaint("sort-nop-1", plan), "no run is called 'sort-nop-1'; did you mean 'sort-nope-1'?");
  EXPECT_EQ(complaint("srot-*", plan), "no run is called 'srot-*'; did you mean 'sort-*'?");
  EXPECT_EQ(complaint("sort-*,*-noep-*", plan), "no run is called '*-noep-*'; did you mean '*-nope-*'?");
  EXPECT_EQ(complaint("*-nope", plan), "no run is called '*-nope'; did you mean '*-nope-*'?");
  EXPECT_EQ(complaint(" , ", plan), "--only names no run; for example --only 'sort-nope-1'");
}

TEST(SelectRuns, PlansForTheSelectedAlone) {
  StudyPlan plan = eight_runs();
  const uint64_t all = bytes_to_come("nowhere", plan, 1);
  select_runs("copy-t5-*", plan);
  EXPECT_EQ(working_order(plan), (std::vector<size_t>{6, 7}));
  EXPECT_LT(bytes_to_come("nowhere", plan, 1), all / 2);
  EXPECT_EQ(suitable_jobs(plan, 8), 2);
}

TEST(Study, DoesTheSelectedRunsAndThenTheRest) {
  const TemporaryFolder folder;
  const fs::path study = folder / "study";
  StudyPlan plan = small_plan("encoding = ['nope', 't5']\nseed = [1, 2]\n");
  carry_out(folder / "whole", plan);
  select_runs("t5-*", plan);
  const StudyOutcome part = carry_out(study, plan);
  using enum RecordState;
  EXPECT_EQ(part.states(plan), (std::map<std::string, RecordState>{
                                   {"nope-1", waiting}, {"nope-2", waiting}, {"t5-1", finished}, {"t5-2", finished}}));
  EXPECT_FALSE(fs::exists(study / "runs/nope-1"));
  EXPECT_EQ(study_json_of(study)["runs"].size(), 4u) << "the record is that of the whole study";
  select_runs("*", plan);
  const StudyOutcome rest = carry_out(study, plan);
  EXPECT_FALSE(rest.entries[2].here);
  EXPECT_TRUE(results_of(study) == results_of(folder / "whole"));
}

TEST(Study, LeavesTheFailureOfARunThatIsNotSelected) {
  const TemporaryFolder folder;
  StudyPlan plan = small_plan("encoding = ['nope', {encoding = 'learned', max-positions = 5}]\n");
  carry_out(folder / "study", plan);
  select_runs("nope", plan);
  const StudyOutcome outcome = carry_out(folder / "study", plan);
  EXPECT_EQ(outcome.entries[1].record.state, RecordState::failed);
  EXPECT_FALSE(outcome.entries[1].here);
}

TEST(Study, NeedsTheStartingWeightsOfTheSelectedRunsAlone) {
  const TemporaryFolder folder;
  carry_out(folder / "first", small_plan("encoding = ['nope']\n"));
  const fs::path here = folder / "first/runs/nope";
  const std::string file = fmt::format(
      "name = 'small'\ncase = [{{encoding = 'nope', label = 'random'}}, {{start-from = '{}', label = 'here'}}, "
      "{{start-from = '{}', label = 'elsewhere'}}]\n{}",
      here.string(), (folder / "gone").string(), kSmallRun);
  const auto planned = [&](const std::string& only) {
    return plan_study(parse_study(file, "small.toml"), [&](StudyPlan& plan) { select_runs(only, plan); });
  };
  EXPECT_THROW(planned("*"), UserError);
  const StudyPlan plan = planned("here");
  EXPECT_EQ(carry_out(folder / "study", plan).entries[1].record.state, RecordState::finished);
  // A run that was done stays what it is when the weights it began with are no longer there.
  remove_folder(here);
  const StudyPlan rest = planned("random");
  const StudyOutcome outcome = carry_out(folder / "study", rest);
  EXPECT_EQ(outcome.messages, std::vector<std::string>{});
  using enum RecordState;
  EXPECT_EQ(outcome.states(rest),
            (std::map<std::string, RecordState>{{"random", finished}, {"here", finished}, {"elsewhere", waiting}}));
}

StudyOutcome carry_out_keeping_results(const fs::path& study, const StudyPlan& plan, RememberingWatcher& watcher) {
  StudyOutcome outcome;
  outcome.messages = open_study(study, plan);
  outcome.entries =
      run_study(plan, study, {.jobs = 1, .threads = 1, .keep = Keep::results}, watcher, [] { return false; });
  return outcome;
}

TEST(KeepResults, DropsWeightsAndNothingElse) {
  const TemporaryFolder folder;
  const StudyPlan plan = small_plan("encoding = ['nope', 't5']\n");
  carry_out(folder / "whole", plan);
  RememberingWatcher watcher;
  carry_out_keeping_results(folder / "study", plan, watcher);
  EXPECT_EQ(watcher.lines, "");
  for (const char* run : {"nope", "t5"}) {
    const fs::path path = folder / "study/runs" / run;
    for (const auto& entry : fs::directory_iterator(path)) EXPECT_NE(entry.path().extension(), ".safetensors");
    for (const std::string& name : kKept) {
      ASSERT_TRUE(fs::exists(path / name)) << name;
      if (name == "config.json" || name.starts_with("events")) continue;
      EXPECT_EQ(read_file(path / name), read_file(folder / "whole/runs" / run / name)) << name;
    }
    EXPECT_TRUE(is_finished(folder / "study", plan.runs[run == std::string("t5") ? 1 : 0]));
  }
  // Started again it has nothing to do, whatever is to be kept.
  const StudyOutcome again = carry_out(folder / "study", plan);
  EXPECT_FALSE(again.entries[0].here || again.entries[1].here);
  EXPECT_EQ(bytes_to_come(folder / "study", plan, 1), 0u);
}

TEST(KeepResults, DropsWhatAnEarlierStartKept) {
  const TemporaryFolder folder;
  StudyPlan plan = small_plan("encoding = ['nope', 't5']\n");
  carry_out(folder / "study", plan);
  select_runs("t5", plan);
  RememberingWatcher watcher;
  carry_out_keeping_results(folder / "study", plan, watcher);
  EXPECT_EQ(watcher.lines, "dropped the weights of 1 run finished earlier\n");
  EXPECT_TRUE(fs::exists(folder / "study/runs/nope/best.safetensors")) << "of a run that was not selected";
  EXPECT_FALSE(fs::exists(folder / "study/runs/t5/best.safetensors"));
}

TEST(KeepResults, NeedsLittleDisk) {
  StudyPlan plan = small_plan("encoding = ['nope']\nseed = [1, 2, 3, 4, 5, 6, 7, 8]\n");
  for (StudyRun& run : plan.runs) run.config.model.width = run.config.model.ff_width = 512;
  const uint64_t one = disk_bytes(plan.runs[0].config);
  EXPECT_LT(disk_bytes(plan.runs[0].config, Keep::results), one / 10);
  EXPECT_GT(bytes_to_come("nowhere", plan, 1, Keep::results), 2 * one) << "a run has its weights while it is done";
  EXPECT_LT(bytes_to_come("nowhere", plan, 1, Keep::results), 3 * one);
  EXPECT_GT(bytes_to_come("nowhere", plan, 1), 8 * one);
}

TEST(KeepResults, WhatNeedsWeightsSaysThatTheyAreGone) {
  const TemporaryFolder folder;
  const StudyPlan plan = small_plan("encoding = ['nope']\n");
  RememberingWatcher watcher;
  carry_out_keeping_results(folder / "study", plan, watcher);
  const fs::path run = folder / "study/runs/nope";
  const std::string before = read_file(run / "metrics.jsonl");
  const auto message = [](const auto& body) {
    try {
      body();
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  EXPECT_EQ(message([&] { load_run(run, "best", "cpu", ""); }),
            run.string() + " was finished with --keep results, and its weights were dropped; its accuracies are in " +
                (run / "eval.jsonl").string());
  // Training it once more does not begin at the beginning.
  Progress quiet(Progress::Mode::quiet);
  TrainConfig config = plan.runs[0].config;
  config.threads = 1;
  EXPECT_EQ(message([&] { EXPECT_EQ(execute_run(prepare_run(config), run, quiet).size(), 2u); }), "none")
      << "results need no weights";
  EXPECT_FALSE(fs::exists(run / "last.safetensors"));
  EXPECT_EQ(read_file(run / "metrics.jsonl"), before);
}

TEST(KeepResults, ReadsItsNames) {
  Keep keep = Keep::all;
  from_text("results", keep);
  EXPECT_EQ(keep, Keep::results);
  EXPECT_THROW(from_text("result", keep), UserError);
  EXPECT_EQ(to_text(Keep::all), "all");
}

}  // namespace
}  // namespace lengthwise
