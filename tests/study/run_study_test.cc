/// Whole small studies in this process: what is left on the disk, and what is done again when.
#include "study/run_study.h"

#include <gtest/gtest.h>

#include <thread>

#include "core/error.h"
#include "eval/execute_run.h"
#include "study/done.h"
#include "study/shared_data.h"
#include "tests/core/temporary_folder.h"
#include "tests/study/small_study.h"
#include "train/folder_lock.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;

const std::string kFourRuns = "encoding = ['nope', 't5']\nseed = [1, 2]\n";

TEST(Study, LeavesEverythingInItsFolder) {
  const TemporaryFolder folder;
  const StudyPlan plan = small_plan("title = 'Small one'\n" + kFourRuns);
  const StudyOutcome outcome = carry_out(folder / "study", plan);
  EXPECT_TRUE(outcome.messages.empty());
  EXPECT_EQ(read_file(folder / "study/study.toml"), plan.text);
  const auto json = study_json_of(folder / "study");
  EXPECT_EQ(json["format"], "lengthwise-study");
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["name"], "small");
  EXPECT_EQ(json["title"], "Small one");
  EXPECT_EQ(json["varies"], (std::vector<std::string>{"encoding", "seed"}));
  ASSERT_EQ(json["runs"].size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    const auto& run = json["runs"][i];
    EXPECT_EQ(run["name"], plan.runs[i].name);
    EXPECT_EQ(run["folder"], "runs/" + plan.runs[i].name);
    EXPECT_EQ(run["state"], "finished");
    EXPECT_EQ(run["step"], 24);
    EXPECT_EQ(run["steps"], 24);
    EXPECT_TRUE(run["best_accuracy"].is_number());
    EXPECT_GT(run["seconds"].get<double>(), -1);
    EXPECT_FALSE(run.contains("reason"));
    EXPECT_TRUE(is_finished(folder / "study", plan.runs[i]));
  }
  EXPECT_EQ(bytes_to_come(folder / "study", plan, 1), 0u);
}

TEST(Study, RunsAreWhatTrainMakes) {
  const TemporaryFolder folder;
  const StudyPlan plan = small_plan("encoding = ['rope']\n");
  carry_out(folder / "study", plan);
  Progress quiet(Progress::Mode::quiet);
  TrainConfig config = plan.runs[0].config;
  config.threads = 1;
  execute_run(prepare_run(config), folder / "alone" / "runs" / "rope", quiet);
  EXPECT_EQ(results_of(folder / "study"), results_of(folder / "alone"));
}

TEST(Study, SeveralJobsGiveTheSameBits) {
  const TemporaryFolder folder;
  const StudyPlan plan = small_plan(kFourRuns);
  carry_out(folder / "one", plan, 1);
  carry_out(folder / "three", plan, 3);
  const auto one = results_of(folder / "one");
  EXPECT_EQ(one.size(), 24u);
  EXPECT_TRUE(one == results_of(folder / "three"));
}

TEST(Study, FinishedRunsAreNotTouched) {
  const TemporaryFolder folder;
  const StudyPlan plan = small_plan(kFourRuns);
  carry_out(folder / "study", plan);
  std::map<std::string, fs::file_time_type> before;
  for (const auto& entry : fs::recursive_directory_iterator(folder / "study/runs"))
    before[entry.path().string()] = fs::last_write_time(entry.path());
  const double seconds = study_json_of(folder / "study")["runs"][0]["seconds"];
  const StudyOutcome again = carry_out(folder / "study", plan);
  EXPECT_FALSE(again.entries[0].here);
  for (const auto& [path, time] : before) EXPECT_EQ(fs::last_write_time(path), time) << path;
  EXPECT_EQ(study_json_of(folder / "study")["runs"][0]["seconds"], seconds);
}

TEST(Study, AFailureStopsNoOtherRun) {
  const TemporaryFolder folder;
  const StudyPlan plan = small_plan(
      "encoding = ['nope', {encoding = 't5', label = 'wild', lr = 1e30, clip = 0, warmup = 0},\n"
      "            {encoding = 'learned', max-positions = 5}, 'rope']\n");
  const StudyOutcome outcome = carry_out(folder / "study", plan, 2);
  EXPECT_EQ(outcome.states(plan), (std::map<std::string, RecordState>{{"nope", RecordState::finished},
                                                                      {"wild", RecordState::failed},
                                                                      {"learned", RecordState::failed},
                                                                      {"rope", RecordState::finished}}));
  const auto runs = study_json_of(folder / "study")["runs"];
  EXPECT_EQ(runs[1]["state"], "failed");
  EXPECT_NE(runs[1]["reason"].get<std::string>().find("no longer finite"), std::string::npos);
  EXPECT_NE(runs[2]["reason"].get<std::string>().find("has 5 positions"), std::string::npos);
  EXPECT_EQ(runs[3]["state"], "finished");
  const StudyOutcome again = carry_out(folder / "study", plan);
  EXPECT_EQ(again.states(plan), outcome.states(plan)) << "tried again, failed again";
  EXPECT_TRUE(again.entries[1].here);
  EXPECT_FALSE(again.entries[0].here);
}

TEST(Study, StopsCleanlyAndGoesOn) {
  const TemporaryFolder folder;
  const StudyPlan plan = small_plan(kFourRuns + "\n");
  carry_out(folder / "whole", plan);
  StudyPlan longer = plan;
  for (StudyRun& run : longer.runs) run.config.steps = 4000;
  std::atomic<bool> stop = false;
  RememberingWatcher watcher;
  watcher.on_show = [&](const std::vector<BoardEntry>& entries) {
    for (const BoardEntry& entry : entries) {
      if (entry.record.step > 30) stop = true;
    }
  };
  const StudyOutcome outcome = carry_out(folder / "study", longer, 1, watcher, stop);
  ASSERT_TRUE(stop);
  EXPECT_EQ(outcome.states(plan).at("nope-1"), RecordState::waiting);
  const RunRecord& stopped = outcome.entries[0].record;
  EXPECT_GT(stopped.step, 30);
  // The step it was at is saved although no checkpoint was due there.
  const std::string state = read_file(folder / "study/runs/nope-1/state.safetensors");
  const size_t place = state.find("\"step\":\"");
  ASSERT_NE(place, std::string::npos);
  EXPECT_GE(std::stoll(state.substr(place + 8)), stopped.step);
  EXPECT_EQ(study_json_of(folder / "study")["runs"][0]["state"], "waiting");
}

TEST(Study, AChangedFileRerunsWhatItAffects) {
  const TemporaryFolder folder;
  const fs::path study = folder / "study";
  carry_out(study, small_plan(kFourRuns));
  const auto before = results_of(study);
  const StudyPlan changed = small_plan("encoding = ['nope', {encoding = 't5', lr = 1e-3}, 'rope']\nseed = [1]\n");
  const StudyOutcome outcome = carry_out(study, changed);
  ASSERT_EQ(outcome.messages.size(), 2u) << outcome.messages[0];
  EXPECT_EQ(outcome.messages[0],
            "t5-1 has changed (--lr is 0.003 there and 0.001 here): the old run is now replaced/t5-1-1");
  EXPECT_EQ(outcome.messages[1], "no longer in the file, left as they are: nope-2, t5-2");
  const auto after = results_of(study);
  EXPECT_EQ(after.at("nope-1/metrics.jsonl"), before.at("nope-1/metrics.jsonl"));
  EXPECT_FALSE(outcome.entries[0].here) << "unaffected runs are left alone";
  EXPECT_NE(after.at("t5-1/metrics.jsonl"), before.at("t5-1/metrics.jsonl"));
  EXPECT_EQ(outcome.entries[1].first_step, 0) << "nothing of the old run counts for the new one";
  EXPECT_TRUE(fs::exists(study / "runs/nope-2/summary.json"));
  EXPECT_EQ(read_file(study / "replaced/t5-1-1/metrics.jsonl"), before.at("t5-1/metrics.jsonl"));
  EXPECT_EQ(study_json_of(study)["runs"].size(), 3u);
  EXPECT_EQ(read_file(study / "study.toml"), changed.text);
}

TEST(Study, ARunUnderANewNameIsNotRunAgain) {
  const TemporaryFolder folder;
  const fs::path study = folder / "study";
  const StudyPlan first = small_plan("encoding = ['nope']\nseed = 3\n");
  carry_out(study, first);
  const std::string metrics = read_file(study / "runs/nope/metrics.jsonl");
  const StudyPlan renamed = small_plan("encoding = ['nope']\nseed = [3]\n");
  const StudyOutcome outcome = carry_out(study, renamed);
  EXPECT_EQ(outcome.messages, (std::vector<std::string>{"nope-3 is the run that was runs/nope"}));
  EXPECT_FALSE(outcome.entries[0].here);
  EXPECT_EQ(read_file(study / "runs/nope-3/metrics.jsonl"), metrics);
  // There and back again: the first version is found where it was put aside.
  carry_out(study, small_plan("encoding = ['nope']\nseed = [3]\nclip = 0.5\n"));
  const StudyOutcome back = carry_out(study, renamed);
  ASSERT_EQ(back.messages.size(), 2u);
  EXPECT_EQ(back.messages[1], "nope-3 is the run that was replaced/nope-3-1");
  EXPECT_FALSE(back.entries[0].here);
}

TEST(Study, DoesNotMoveIntoAFolderOfSomethingElse) {
  const TemporaryFolder folder;
  write_file(folder / "thesis.tex", "precious");
  const StudyPlan plan = small_plan("seed = [1]\n");
  EXPECT_THROW(open_study(folder.path(), plan), UserError);
  EXPECT_EQ(folder.size(), 1u);
  EXPECT_THROW(open_study(folder / "thesis.tex", plan), UserError);
  carry_out(folder / "study", plan);
  StudyPlan other = plan;
  other.name = "other";
  try {
    open_study(folder / "study", other);
    ADD_FAILURE() << "another study was let in";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("holds the study 'small', not 'other'"), std::string::npos);
  }
}

TEST(Study, ARunThatAnotherHoldsIsLeftAloneAndThenTakenOver) {
  const TemporaryFolder folder;
  const fs::path study = folder / "study";
  const StudyPlan plan = small_plan("encoding = ['nope', 't5']\n");
  open_study(study, plan);
  make_folder(study / "runs/nope");
  auto held = std::make_unique<FolderLock>(FolderLock::wait(study / "runs/nope"));
  RememberingWatcher watcher;
  bool left_alone = false;
  watcher.on_show = [&](const std::vector<BoardEntry>& entries) {
    if (held == nullptr || entries[1].record.state != RecordState::finished) return;
    left_alone = entries[0].record.state == RecordState::running && !entries[0].here &&
                 study_json_of(study)["runs"][0]["state"] == "running";
    held.reset();
  };
  const StudyOutcome outcome = carry_out(study, plan, 1, watcher);
  EXPECT_TRUE(left_alone);
  EXPECT_EQ(outcome.entries[0].record.state, RecordState::finished);
  EXPECT_TRUE(outcome.entries[0].here);
}

TEST(Study, AFailureOfAnotherProcessIsNotRepeated) {
  const TemporaryFolder folder;
  const fs::path study = folder / "study";
  const StudyPlan plan = small_plan("encoding = ['nope', 't5']\n");
  open_study(study, plan);
  make_folder(study / "runs/nope");
  auto held = std::make_unique<FolderLock>(FolderLock::wait(study / "runs/nope"));
  RememberingWatcher watcher;
  watcher.on_show = [&](const std::vector<BoardEntry>& entries) {
    if (held == nullptr || entries[1].record.state != RecordState::finished) return;
    const FolderLock lock = FolderLock::wait(study);
    auto json = study_json_of(study);
    json["runs"][0]["state"] = "failed";
    json["runs"][0]["reason"] = "it rained";
    write_file(study / "study.json", json.dump());
    held.reset();
  };
  const StudyOutcome outcome = carry_out(study, plan, 1, watcher);
  EXPECT_EQ(outcome.entries[0].record.state, RecordState::failed);
  EXPECT_EQ(outcome.entries[0].record.reason, "it rained");
  EXPECT_FALSE(outcome.entries[0].here);
}

TEST(Study, ADamagedRecordIsNoReasonToStop) {
  const TemporaryFolder folder;
  const StudyPlan plan = small_plan("seed = [1]\n");
  carry_out(folder / "study", plan);
  write_file(folder / "study/study.json", "{\"runs\": 3");
  const StudyOutcome outcome = carry_out(folder / "study", plan);
  EXPECT_EQ(outcome.entries[0].record.state, RecordState::finished);
  EXPECT_TRUE(outcome.entries[0].record.best_accuracy.has_value());
  EXPECT_EQ(study_json_of(folder / "study")["runs"][0]["state"], "finished");
}

TEST(Study, DividesTheThreads) {
  EXPECT_EQ(threads_per_job({.jobs = 2, .threads = 8}), 4);
  EXPECT_EQ(threads_per_job({.jobs = 3, .threads = 8}), 2);
  EXPECT_EQ(threads_per_job({.jobs = 9, .threads = 8}), 1);
}

TEST(SharedData, IsBuiltOnceAndGoesWhenNobodyNeedsIt) {
  SharedData shared(1);
  const DataConfig sort = small_plan("seed = [1]\n").runs[0].config.data;
  DataConfig other = sort;
  other.data_seed = 5;
  std::shared_ptr<const DataSet> first;
  std::shared_ptr<const DataSet> second;
  std::thread thread([&] { first = shared.get(sort, 1); });
  second = shared.get(sort, 1);
  thread.join();
  EXPECT_EQ(first, second);
  const std::weak_ptr<const DataSet> watched = first;
  first.reset();
  second.reset();
  EXPECT_FALSE(watched.expired()) << "the last one is kept";
  shared.get(other, 1);
  EXPECT_TRUE(watched.expired());
}

}  // namespace
}  // namespace lengthwise
