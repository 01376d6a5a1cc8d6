/// Runs that earlier versions wrote, and runs that something has damaged: neither stops a study.
#include <gtest/gtest.h>

#include "core/error.h"
#include "study/done.h"
#include "study/keep.h"
#include "tests/core/temporary_folder.h"
#include "tests/study/small_study.h"
#include "train/folder_lock.h"

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
