/// Runs that earlier versions wrote, and runs that something has damaged: neither stops a study.
#include <gtest/gtest.h>

#include "core/error.h"
#include "study/done.h"
#include "study/keep.h"
#include "tests/core/mistake.h"
#include "tests/core/temporary_folder.h"
#include "tests/study/small_study.h"
#include "train/folder_lock.h"
#include "train/run_folder.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;

/// A study that version 0.1.0 finished before there was a record of commits, without its weights.
class SavedStudy : public testing::Test {
 protected:
  SavedStudy() {
    fs::copy(fs::path(LENGTHWISE_SOURCE_DIR) / "tests/study/saved", study_, fs::copy_options::recursive);
    plan_ = plan_study(read_study_file(study_ / "study.toml"));
    plan_.name = "saved";
  }

  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(study_)) {
      if (entry.is_regular_file() && entry.path().filename() != ".lock" && entry.path().filename() != "study.json")
        files[entry.path().string()] = read_file(entry.path());
    }
    return files;
  }

  TemporaryFolder folder_;
  fs::path study_ = folder_ / "study";
  StudyPlan plan_;
};

TEST_F(SavedStudy, IsFinished) {
  const auto before = files();
  EXPECT_EQ(bytes_to_come(study_, plan_, 1), 0u);
  const StudyOutcome outcome = carry_out(study_, plan_);
  EXPECT_EQ(outcome.messages, std::vector<std::string>());
  for (const BoardEntry& entry : outcome.entries) {
    EXPECT_EQ(entry.record.state, RecordState::finished);
    EXPECT_FALSE(entry.here);
  }
  EXPECT_FALSE(fs::exists(study_ / "replaced"));
  EXPECT_TRUE(files() == before);
}

TEST_F(SavedStudy, IsFinishedWithoutAnOptionThatIsYounger) {
  change_option(study_ / "runs/t5-1", "random-offset", nullptr);
  const StudyOutcome outcome = carry_out(study_, plan_);
  EXPECT_EQ(outcome.messages, std::vector<std::string>());
  EXPECT_FALSE(outcome.entries[1].here);
  EXPECT_EQ(outcome.entries[1].record.state, RecordState::finished);
}

TEST_F(SavedStudy, ADamagedConfigurationIsReportedAndDoneAgain) {
  write_file(study_ / "runs/t5-1/config.json", "{\"options\": 3}");
  EXPECT_GT(bytes_to_come(study_, plan_, 1), 0u) << "the check of the disk goes on too";
  const StudyOutcome outcome = carry_out(study_, plan_);
  ASSERT_EQ(outcome.messages.size(), 1u);
  EXPECT_NE(outcome.messages[0].find("t5-1 has changed ("), std::string::npos);
  EXPECT_NE(outcome.messages[0].find("is damaged"), std::string::npos);
  EXPECT_TRUE(outcome.entries[1].here);
  EXPECT_EQ(outcome.entries[1].record.state, RecordState::finished);
  EXPECT_FALSE(outcome.entries[0].here);
}

TEST_F(SavedStudy, ADamagedResultIsAFailureThatStopsNoOtherRun) {
  write_file(study_ / "runs/nope-1/summary.json", "{\"format\": \"lengthw");
  remove_folder(study_ / "runs/t5-1");
  const StudyOutcome outcome = carry_out(study_, plan_);
  EXPECT_EQ(outcome.entries[0].record.state, RecordState::failed);
  EXPECT_TRUE(outcome.entries[0].record.reason.starts_with("damaged: ")) << outcome.entries[0].record.reason;
  EXPECT_TRUE(outcome.entries[0].record.reason.ends_with("; move its folder away to do it again"));
  EXPECT_EQ(outcome.entries[1].record.state, RecordState::finished);
  EXPECT_TRUE(outcome.entries[1].here);
  EXPECT_EQ(read_file(study_ / "runs/nope-1/summary.json"), "{\"format\": \"lengthw") << "nothing is written over it";
}

TEST_F(SavedStudy, ADamagedResultKeepsItsWeights) {
  write_file(study_ / "runs/nope-1/summary.json", "[]");
  for (const char* run : {"nope-1", "t5-1"}) write_file(study_ / "runs" / run / "best.safetensors", "weights");
  EXPECT_EQ(drop_weights_of_finished(study_, plan_), 1u);
  EXPECT_TRUE(fs::exists(study_ / "runs/nope-1/best.safetensors"));
  EXPECT_FALSE(fs::exists(study_ / "runs/t5-1/best.safetensors"));
}

TEST_F(SavedStudy, OddMetricsAndNumbersAreNoReasonToStop) {
  write_file(study_ / "runs/nope-1/metrics.jsonl",
             "{\"step\": \"two\"}\n[1]\n{\"step\": 4, \"validation_exact_match\": null}\n\xff\n");
  auto summary = nlohmann::ordered_json::parse(read_file(study_ / "runs/nope-1/summary.json"));
  summary.erase("checksum");
  summary["out_of_distribution"] = nullptr;
  write_file(study_ / "runs/nope-1/summary.json", summary.dump());
  fs::remove(study_ / "study.json");
  const StudyOutcome outcome = carry_out(study_, plan_);
  EXPECT_EQ(outcome.entries[0].record.state, RecordState::finished);
  EXPECT_TRUE(read_accuracy(study_ / "runs/nope-1").in_distribution);
  EXPECT_FALSE(read_accuracy(study_ / "runs/nope-1").out_of_distribution);
}

TEST_F(SavedStudy, MetricsThatCannotBeReadAreNoReasonToStop) {
  const fs::path metrics = study_ / "runs/nope-1/metrics.jsonl";
  fs::remove(metrics);
  fs::create_symlink("metrics.jsonl", metrics);
  fs::remove(study_ / "study.json");
  EXPECT_EQ(carry_out(study_, plan_).entries[0].record.state, RecordState::finished);
  fs::remove(metrics);
  make_folder(metrics);
  fs::remove(study_ / "study.json");
  EXPECT_EQ(carry_out(study_, plan_).entries[0].record.state, RecordState::finished);
}

TEST_F(SavedStudy, ARunOfANewerProgramIsRefusedAndLeftWhereItIs) {
  change_option(study_ / "runs/t5-1", "learning-to-fly", 1);
  write_file(study_ / "study.toml", "seed = [9]\n");
  const auto before = files();
  for (const auto& action : std::vector<std::function<void()>>{[&] { open_study(study_, plan_); },
                                                               [&] { bytes_to_come(study_, plan_, 1); }}) {
    const std::string mistake = mistake_of(action);
    EXPECT_NE(mistake.find("t5-1/config.json has the option 'learning-to-fly', which"), std::string::npos) << mistake;
  }
  EXPECT_FALSE(fs::exists(study_ / "replaced"));
  EXPECT_TRUE(files() == before);
}

TEST(DataVersion, OfAnOlderRunIsSaidToGoOnWithIt) {
  const TemporaryFolder folder;
  const auto plan_with = [](const std::string& line) {
    return plan_study(parse_study("name = 'old'\ntask = 'copy-rsc'\nseed = [1]\nsteps = 4\n" + line, "old.toml"));
  };
  StudyPlan plan = plan_with("");
  TrainConfig old = plan.runs[0].config;
  ASSERT_EQ(old.data.data_version, 2);
  old.data.data_version.reset();
  make_folder(folder / "runs/1");
  write_file(folder / "study.toml", plan.text);
  write_file(folder / "runs/1/config.json", run_config_json(old));
  EXPECT_EQ(open_study(folder.path(), plan),
            std::vector<std::string>{"1 has changed (--data-version is 1 there and 2 here): the old run is now "
                                     "replaced/1-1; with data-version = 1 in the file it goes on"});
  EXPECT_EQ(open_study(folder.path(), plan_with("data-version = 1\n")),
            std::vector<std::string>{"1 is the run that was replaced/1-1"});
}

TEST(DeviceNotes, NameEveryReasonOnce) {
  StudyPlan plan;
  for (int i = 0; i < 16; ++i) {
    StudyRun& run = plan.runs.emplace_back();
    run.name = fmt::format("r{}", i);
    if (i != 3) run.device_note = i == 5 ? "on the CPU: it is odd" : "on the CPU: it is wide";
    run.selected = i != 0;
  }
  EXPECT_EQ(device_notes(plan),
            (std::vector<std::string>{
                "on the CPU: it is odd (r5)",
                "on the CPU: it is wide (r1, r2, r4, r6, r7, r8, r9, r10, r11, r12, r13, r14 and 1 more)"}));
}

TEST(LeftFolders, OnlyThoseThatNobodyHoldsAreRemoved) {
  const TemporaryFolder folder;
  make_folder(folder / "run.1.part/inside");
  make_folder(folder / "run.2.part");
  make_folder(folder / "other.1.part");
  make_folder(folder / "run.3");
  const FolderLock held = FolderLock::wait(folder / "run.2.part");
  remove_left_folders(folder.path(), "run.");
  EXPECT_FALSE(fs::exists(folder / "run.1.part"));
  EXPECT_EQ(folder.size(), 3u);
  remove_left_folders(folder.path());
  EXPECT_EQ(folder.size(), 2u);
  EXPECT_NE(part_folder(folder / "x").string().find((folder / "x.").string()), std::string::npos);
}

}  // namespace
}  // namespace lengthwise
