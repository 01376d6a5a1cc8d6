/// Pieces of a study laid together, and pieces that do not belong together.
#include <gtest/gtest.h>

#include "core/error.h"
#include "study/done.h"
#include "study/merge_studies.h"
#include "study/select_runs.h"
#include "tests/core/temporary_folder.h"
#include "tests/study/small_study.h"
#include "train/folder_lock.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;

/// Pieces `a` (nope and rope) and `b` (t5, alibi and rope, without weights) of one study; made once, copied for each
/// test.
class Merging : public testing::Test {
 protected:
  static const StudyPlan& plan() {
    static const StudyPlan made =
        small_plan("title = 'Pieces'\nencoding = ['nope', 't5', 'rope', 'alibi', 'learned']\n");
    return made;
  }

  static const fs::path& made() {
    static const TemporaryFolder folder;
    static const fs::path path = [] {
      StudyPlan piece = plan();
      select_runs("nope,rope", piece);
      carry_out(folder / "a", piece);
      select_runs("t5,alibi,rope", piece);
      RememberingWatcher watcher;
      open_study(folder / "b", piece);
      run_study(piece, folder / "b", {.jobs = 1, .threads = 1, .keep = Keep::results}, watcher, [] { return false; });
      return folder.path();
    }();
    return path;
  }

  Merging() { fs::copy(made(), folder_.path(), fs::copy_options::recursive); }

  fs::path at(const std::string& name) const { return folder_ / name; }
  MergedStudy merge() const { return merge_studies({at("a"), at("b")}, at("out/")); }

  /// What is wrong with merging `a` and `b`; nothing may be left behind then.
  std::string complaint() const {
    try {
      merge();
    } catch (const UserError& error) {
      EXPECT_FALSE(fs::exists(at("out")));
      EXPECT_EQ(folder_.size(), 2u) << "something was left behind";
      std::string text = error.what();
      for (size_t place = text.find(folder_.path().string()); place != std::string::npos;
           place = text.find(folder_.path().string()))
        text.erase(place, folder_.path().string().size() + 1);
      return text;
    }
    return "none";
  }

  static void edit(const fs::path& file, const std::string& from, const std::string& to) {
    std::string text = read_file(file);
    const size_t place = text.find(from);
    ASSERT_NE(place, std::string::npos) << from << " in " << text;
    write_file(file, text.replace(place, from.size(), to));
  }

  TemporaryFolder folder_;
};

TEST_F(Merging, GivesTheWholeStudy) {
  const MergedStudy merged = merge();
  EXPECT_EQ(merged.runs, 5u);
  EXPECT_EQ(merged.finished, 4u);
  EXPECT_EQ(merged.failed, 0u);
  EXPECT_EQ(read_file(at("out/study.toml")), plan().text);
  const auto json = study_json_of(at("out"));
  EXPECT_EQ(json["name"], "small");
  EXPECT_EQ(json["title"], "Pieces");
  EXPECT_EQ(json["varies"], (std::vector<std::string>{"encoding"}));
  const auto record_of = [](const nlohmann::json& study, const std::string& name) {
    for (const auto& run : study["runs"]) {
      if (run["name"] == name) return run;
    }
    return nlohmann::json();
  };
  EXPECT_EQ(record_of(json, "nope"), record_of(study_json_of(at("a")), "nope"));
  EXPECT_EQ(record_of(json, "t5"), record_of(study_json_of(at("b")), "t5"));
  EXPECT_EQ(record_of(json, "learned")["state"], "waiting");
  EXPECT_TRUE(fs::exists(at("out/runs/rope/best.safetensors"))) << "of equals the one with weights";
  EXPECT_FALSE(fs::exists(at("out/runs/t5/best.safetensors")));
  // It goes on like any other study.
  const StudyOutcome rest = carry_out(at("out"), plan());
  EXPECT_TRUE(rest.messages.empty());
  for (size_t i = 0; i < plan().runs.size(); ++i) {
    EXPECT_EQ(rest.entries[i].record.state, RecordState::finished);
    EXPECT_EQ(rest.entries[i].here, plan().runs[i].name == "learned");
  }
}

TEST_F(Merging, TakesAnEmptyFolder) {
  make_folder(at("out"));
  EXPECT_EQ(merge().finished, 4u);
  EXPECT_EQ(folder_.size(), 3u);
}

TEST_F(Merging, AddsToAStudyThatIsThere) {
  const auto before = results_of(at("a"));
  const MergedStudy merged = merge_studies({at("a"), at("b")}, at("a"));
  EXPECT_EQ(merged.finished, 4u);
  EXPECT_EQ(folder_.size(), 2u);
  for (const auto& [name, bytes] : before) EXPECT_EQ(read_file(at("a/runs") / name), bytes);
  EXPECT_TRUE(is_finished(at("a"), plan().runs[1]));
  EXPECT_FALSE(fs::exists(at("a/replaced")));
  EXPECT_EQ(merge_studies({at("b")}, at("a")).finished, 4u) << "once more changes nothing";
}

TEST_F(Merging, FinishedBeatsUnfinished) {
  fs::remove(at("a/runs/rope/summary.json"));
  EXPECT_EQ(merge().finished, 4u);
  EXPECT_TRUE(fs::exists(at("out/runs/rope/summary.json")));
  merge_studies({at("b")}, at("a"));
  EXPECT_TRUE(fs::exists(at("a/runs/rope/summary.json")));
  EXPECT_TRUE(fs::exists(at("a/replaced/rope-1/state.safetensors"))) << "nothing is deleted";
}

TEST_F(Merging, PassesOnWhyARunFailed) {
  edit(at("b/study.json"), "\"folder\": \"runs/learned\",\n   \"state\": \"waiting\"",
       "\"folder\": \"runs/learned\",\n   \"state\": \"failed\", \"reason\": \"it rained\"");
  EXPECT_EQ(merge().failed, 1u);
  EXPECT_EQ(study_json_of(at("out"))["runs"][4]["reason"], "it rained");
}

TEST_F(Merging, TakesAFileThatDiffersInWordsAlone) {
  edit(at("b/study.toml"), "title = 'Pieces'", "title = 'The second piece'  # of two");
  EXPECT_EQ(merge().finished, 4u);
}

TEST_F(Merging, TakesWhatEachMachineChose) {
  for (const char* piece : {"a", "b"}) edit(at(piece) / "study.toml", "lr = 3e-3", "lr = 3e-3\nprecision = 'auto'");
  EXPECT_EQ(merge().finished, 4u);
}

TEST_F(Merging, RefusesPiecesOfMachinesThatChoseDifferently) {
  for (const char* piece : {"a", "b"}) edit(at(piece) / "study.toml", "lr = 3e-3", "lr = 3e-3\nprecision = 'auto'");
  change_option(at("b/runs/rope"), "precision", "bf16");
  EXPECT_EQ(complaint(), "a/runs/rope and b/runs/rope are different runs: --precision is \"fp32\" and \"bf16\"");
}

TEST_F(Merging, TakesAnEncodingByAnyOfItsNames) {
  for (const char* piece : {"a", "b"})
    edit(at(piece) / "study.toml", "'rope'", "{encoding = 'rotary(fraction=0.25)', label = 'rope'}");
  EXPECT_EQ(merge().finished, 4u);
}

TEST_F(Merging, RefusesAnotherEncoding) {
  for (const char* piece : {"a", "b"})
    edit(at(piece) / "study.toml", "'rope'", "{encoding = 'rope(fraction=0.5)', label = 'rope'}");
  EXPECT_EQ(complaint(),
            "a/runs/rope is not the run that its study.toml asks for: --encoding is \"rope\" and "
            "\"rope(fraction=0.5)\"");
}

TEST_F(Merging, RefusesAnotherFile) {
  edit(at("b/study.toml"), "lr = 3e-3", "lr = 4e-3");
  EXPECT_EQ(complaint(), "a and b are not pieces of one study: lr is '0.003' in one and '0.004' in the other");
}

TEST_F(Merging, RefusesAnotherList) {
  edit(at("b/study.toml"), "'alibi', ", "");
  EXPECT_EQ(complaint(), "a and b are not pieces of one study: the list 'encoding' is not the same");
}

TEST_F(Merging, RefusesAnotherStudy) {
  edit(at("b/study.json"), "\"small\"", "\"large\"");
  EXPECT_EQ(complaint(), "a and b are not pieces of one study: one is the study 'small', the other 'large'");
}

TEST_F(Merging, RefusesAnotherOptionOfARun) {
  change_option(at("b/runs/rope"), "precision", "bf16");
  EXPECT_EQ(complaint(), "a/runs/rope and b/runs/rope are different runs: --precision is \"fp32\" and \"bf16\"");
}

TEST_F(Merging, RefusesARunThatItsFileDoesNotAskFor) {
  change_option(at("b/runs/t5"), "steps", 25);
  EXPECT_EQ(complaint(), "b/runs/t5 is not the run that its study.toml asks for: --steps is 25 and 24");
}

TEST_F(Merging, RefusesOtherResultsOfTheSameRun) {
  edit(at("b/runs/rope/eval.jsonl"), "\"correct\":", "\"correct\": ");
  EXPECT_EQ(complaint(), "a/runs/rope and b/runs/rope are the same run with different results; leave one of them out");
}

TEST_F(Merging, RefusesARunThatIsWorkedOn) {
  const FolderLock held = FolderLock::wait(at("b/runs/t5"));
  EXPECT_EQ(complaint(), "somebody works on b/runs/t5; merge when it has ended");
}

TEST_F(Merging, RefusesADamagedRun) {
  write_file(at("b/runs/t5/summary.json"), "{");
  EXPECT_EQ(complaint(),
            "b/runs/t5: damaged: b/runs/t5/summary.json: not valid JSON at byte 2; move its folder away to do "
            "it again");
}

TEST_F(Merging, RefusesWhatIsNoStudy) {
  fs::remove(at("b/study.toml"));
  EXPECT_EQ(complaint(), "b is not the folder of a study: it has no study.toml");
  EXPECT_THROW(merge_studies({at("a")}, at("a/runs")), UserError);
  EXPECT_THROW(merge_studies({at("nowhere")}, at("out")), UserError);
}

}  // namespace
}  // namespace lengthwise
