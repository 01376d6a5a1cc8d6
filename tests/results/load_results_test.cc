// Folders with runs in them: studies, runs made by hand, single runs, and what can be wrong with them.
#include "results/load_results.h"

#include <gtest/gtest.h>

#include <set>

#include "core/error.h"
#include "core/json.h"
#include "results/read_scores.h"
#include "results/tidy.h"
#include "tests/core/mistake.h"
#include "tests/core/temporary_folder.h"
#include "tests/results/made_run.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;

std::string error_of(const fs::path& path, const LoadOptions& options = {}) {
  try {
    load_results(path, options);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(LoadResults, OfASingleRun) {
  const TemporaryFolder folder;
  make_run(folder / "mine", {});
  const Results results = load_results(folder / "mine", {.curves = true, .examples = true});
  ASSERT_EQ(results.runs.size(), 1u);
  const StoredRun& run = results.runs.front();
  EXPECT_EQ(run.name, "mine");
  EXPECT_EQ(run.state, StoredState::finished);
  EXPECT_EQ(run.split, "sort");
  EXPECT_EQ(run.category, "reasoning");
  EXPECT_EQ(run.encoding, "nope");
  EXPECT_EQ(run.train_limit, 2);
  EXPECT_EQ(run.parameters, 1234);
  const Score score = run.score();
  EXPECT_EQ(score.trained.correct, 20);
  EXPECT_EQ(score.longer.correct, 7) << "rows by category do not count twice";
  EXPECT_EQ(score.longer.count, 20);
  ASSERT_EQ(run.loss.size(), 2u);
  EXPECT_EQ(run.validation.at(0).value, 0.75);
  ASSERT_EQ(run.examples.size(), 1u);
  EXPECT_EQ(run.examples[0].answer, "1 3 2");
}

TEST(LoadResults, OfTheLastWeights) {
  const TemporaryFolder folder;
  make_run(folder / "mine", {});
  EXPECT_EQ(load_results(folder / "mine", {.weights = "last"}).runs[0].score().longer.correct, 0);
  EXPECT_EQ(error_of(folder / "mine", {.weights = "bets"}), "--weights must be best or last, not 'bets'");
}

std::string reading_row(const char* encoding, const char* split, int64_t length, int64_t correct) {
  return Json{{"encoding", encoding}, {"encoding_label", "YaRN"},
              {"selection", "best"},  {"split", split},
              {"length", length},     {"count", 10},
              {"correct", correct},   {"accuracy", static_cast<double>(correct) / 10},
              {"low", 0.1},           {"high", 0.9},
              {"loss", 0.5}}
             .dump() +
         "\n";
}

TEST(LoadResults, ComparesReadingsAsEncodingsOfTheirOwn) {
  const TemporaryFolder folder;
  make_run(folder / "a", {.encoding = "rope", .training_seconds = 5});
  make_run(folder / "b", {.encoding = "t5", .training_seconds = 5});
  std::string rows;
  for (const int64_t length : {1, 2}) rows += reading_row("yarn(factor=2)", "validation", length, 9);
  for (const int64_t length : {3, 4}) rows += reading_row("yarn(factor=2)", "test", length, 8);
  write_file(folder / "a" / "readings.jsonl", rows);
  const Results results = load_results(folder.path());
  EXPECT_EQ(results.runs.size(), 2u) << "a reading is no run";
  ASSERT_EQ(results.readings.size(), 1u);
  std::vector<std::string> notes;
  const std::vector<Score> scores = scores_of(results, notes);
  ASSERT_EQ(scores.size(), 3u);
  EXPECT_EQ(scores[2].encoding, "rope read with yarn(factor=2)");
  EXPECT_EQ(scores[2].longer.correct, 16);
  EXPECT_EQ(scores[2].trained.correct, 18);
  EXPECT_EQ(results.readings[0].label, "RoPE read with YaRN");
  EXPECT_TRUE(load_results(folder.path(), {.weights = "last"}).readings.empty()) << "only the best weights are read";

  write_file(folder / "a" / "readings.jsonl", rows + reading_row("nope", "test", 3, 8));
  const Results damaged = load_results(folder.path());
  EXPECT_EQ(damaged.runs[0].state, StoredState::damaged);
  EXPECT_NE(damaged.runs[0].reason.find("with nope other examples were answered"), std::string::npos)
      << damaged.runs[0].reason;
}

TEST(LoadResults, FindsRunsSomewhereInside) {
  const TemporaryFolder folder;
  make_run(folder / "b" / "deep" / "one", {});
  make_run(folder / "a", {.encoding = "t5", .finished = false});
  make_folder(folder / "other");
  write_file(folder / "other" / "config.json", "{\"format\":\"somebody's\"}");
  const Results results = load_results(folder.path());
  ASSERT_EQ(results.runs.size(), 2u);
  EXPECT_EQ(results.runs[0].name, "a");
  EXPECT_EQ(results.runs[0].state, StoredState::unfinished);
  EXPECT_EQ(results.runs[0].step, 50);
  EXPECT_EQ(results.runs[0].steps, 100);
  EXPECT_EQ(results.runs[1].name, "b/deep/one");
}

TEST(LoadResults, ListsWhatAStudyLists) {
  const TemporaryFolder folder;
  make_run(folder / "runs" / "done", {});
  make_run(folder / "runs" / "half", {.encoding = "t5", .finished = false});
  write_file(folder / "study.json", R"({"format":"lengthwise-study","version":1,"name":"my study","title":"Why?",
    "varies":["encoding"],"runs":[
      {"name":"done","folder":"runs/done","state":"running","step":100,"steps":100,"seconds":12.5},
      {"name":"half","folder":"runs/half","state":"running","step":40,"steps":100,"seconds":null},
      {"name":"bad","folder":"runs/bad","state":"failed","step":7,"steps":100,"reason":"out of memory"},
      {"name":"next","folder":"runs/next","state":"waiting"},
      {"name":"lost","folder":"runs/lost","state":"finished"}]})");
  const Results results = load_results(folder.path());
  EXPECT_EQ(results.name, "my study");
  EXPECT_EQ(results.title, "Why?");
  ASSERT_EQ(results.runs.size(), 5u);
  EXPECT_EQ(results.runs[0].state, StoredState::finished) << "its summary is there, whatever the study knew";
  EXPECT_EQ(results.runs[0].seconds, 12.5);
  EXPECT_EQ(results.runs[1].state, StoredState::running);
  EXPECT_EQ(results.runs[2].state, StoredState::failed);
  EXPECT_EQ(results.runs[2].reason, "out of memory");
  EXPECT_EQ(results.runs[3].state, StoredState::waiting);
  EXPECT_EQ(results.runs[4].state, StoredState::damaged);
  EXPECT_EQ(results.runs[4].reason, "its folder is gone");
}

TEST(LoadResults, AStudyWithoutItsListIsRefused) {
  const TemporaryFolder folder;
  make_run(folder / "study/runs/a", {});
  write_file(folder / "study/study.toml", "seed = [1]\n");
  EXPECT_EQ(load_results(folder / "study").runs.size(), 1u) << "a file of one's own beside runs";
  write_file(folder / "study/.lock", "");
  std::filesystem::create_symlink("nothing", folder / "study/study.json");
  EXPECT_EQ(mistake_of([&] { load_results(folder / "study"); }),
            (folder / "study").string() +
                " is a study without its study.json; the study's command writes it again, and " +
                (folder / "study/runs").string() + " can be read without it");
  EXPECT_EQ(load_results(folder / "study/runs").runs.size(), 1u);
  EXPECT_EQ(load_results(folder.path()).runs.size(), 1u);
}

TEST(LoadResults, SaysWhatIsNotThere) {
  const TemporaryFolder folder;
  EXPECT_NE(error_of(folder / "absent").find("there is no folder"), std::string::npos);
  EXPECT_NE(error_of(folder.path()).find("holds no runs"), std::string::npos);
  write_file(folder / "file", "");
  EXPECT_NE(error_of(folder / "file").find("is a file"), std::string::npos);
  Json sealed = {{"format", "lengthwise-study"}, {"name", "a"}, {"runs", Json::array()}};
  seal(sealed);
  sealed["name"] = "b";
  write_file(folder / "study.json", json_text(sealed));
  EXPECT_NE(error_of(folder.path()).find("checksum"), std::string::npos) << "changed since it was written";
  write_file(folder / "study.json", "{}");
  EXPECT_NE(error_of(folder.path()).find("is damaged"), std::string::npos);
}

TEST(LoadResults, TheSameRunTwiceCountsOnce) {
  const TemporaryFolder folder;
  make_run(folder / "a", {});
  make_run(folder / "b", {.longer_correct = 0});
  const Results results = load_results(folder.path());
  std::vector<std::string> notes;
  const std::vector<Score> scores = scores_of(results, notes);
  ASSERT_EQ(scores.size(), 1u);
  EXPECT_EQ(scores[0].longer.correct, 7);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0], "b repeats an earlier run of nope on sort with seed 1; the earlier one counts.");
}

TEST(LoadResults, OnlyLengthsBeyondTrainingAreLonger) {
  const TemporaryFolder folder;
  make_run(folder / "a", {.first_test = 2});
  make_run(folder / "b", {.seed = 2, .first_test = 1});
  std::vector<std::string> notes;
  const std::vector<Score> scores = scores_of(load_results(folder.path()), notes);
  EXPECT_EQ(scores.at(0).inside.count, 10);
  EXPECT_EQ(scores.at(0).longer.count, 10);
  EXPECT_DOUBLE_EQ(scores.at(0).accuracy.value(), .2);
  EXPECT_EQ(scores.at(1).inside.count, 20);
  EXPECT_FALSE(scores.at(1).accuracy);
}

TEST(LoadResults, ScoresStandInTheOrderOfTheTasks) {
  const TemporaryFolder folder;
  make_run(folder / "a", {.task = "scan"});
  make_run(folder / "b", {.task = "copy"});
  std::vector<std::string> notes;
  const std::vector<Score> scores = scores_of(load_results(folder.path()), notes);
  EXPECT_EQ(scores.at(0).split, "copy");
  EXPECT_EQ(scores.at(1).category, "classic");
}

TEST(SplitLabels, NameOnlyWhatVaries) {
  const TemporaryFolder folder;
  int number = 0;
  for (const char* encoding : {"nope", "t5"}) {
    for (const auto& [model, width] : {std::pair{"tiny", 128}, std::pair{"small", 256}}) {
      for (const char* task : {"copy", "sort"}) {
        const std::string lengths = std::string(task) == "copy" ? "1:20" : "1:8";
        make_run(folder / std::to_string(number++),
                 {.task = task,
                  .encoding = encoding,
                  .options = {{"model", model}, {"width", width}, {"train-lengths", lengths}, {"threads", number}}});
      }
    }
  }
  const Results results = load_results(folder.path());
  std::set<std::string> splits;
  for (const StoredRun& run : results.runs) splits.insert(run.split);
  EXPECT_EQ(splits,
            (std::set<std::string>{"copy model=small", "copy model=tiny", "sort model=small", "sort model=tiny"}))
      << "the width follows from the model, the lengths from the task";
  EXPECT_TRUE(results.notes.empty());
}

TEST(SplitLabels, AnOptionOfOneEncodingBelongsToIt) {
  const TemporaryFolder folder;
  make_run(folder / "1", {.encoding = "nope", .options = {{"rotary-fraction", 0.25}}});
  make_run(folder / "2", {.encoding = "rope", .options = {{"rotary-fraction", 0.25}}});
  make_run(folder / "3", {.encoding = "rope", .options = {{"rotary-fraction", 1.0}}});
  const Results results = load_results(folder.path());
  EXPECT_EQ(results.runs[0].encoding, "nope");
  EXPECT_EQ(results.runs[1].encoding, "rope rotary-fraction=0.25");
  EXPECT_EQ(results.runs[2].encoding, "rope rotary-fraction=1.0");
  for (const StoredRun& run : results.runs) EXPECT_EQ(run.split, "sort");
}

TEST(SplitLabels, SayThatAComparisonIsNotFair) {
  const TemporaryFolder folder;
  make_run(folder / "1", {.encoding = "nope", .options = {{"lr", 0.001}}});
  make_run(folder / "2", {.encoding = "t5", .options = {{"lr", 0.01}}});
  const Results results = load_results(folder.path());
  EXPECT_EQ(results.runs[0].split, results.runs[1].split);
  EXPECT_EQ(results.notes, std::vector<std::string>{"The encodings also differ in lr: nope 0.001, t5 0.01."});
}

TEST(SplitLabels, NameWhereWeightsCameFromButNotTheirChecksum) {
  const auto splits_of = [](const std::vector<MadeRun>& runs) {
    const TemporaryFolder folder;
    for (size_t i = 0; i < runs.size(); ++i) make_run(folder / std::to_string(i), runs[i]);
    std::vector<std::string> splits;
    for (const StoredRun& run : load_results(folder.path()).runs) splits.push_back(run.split);
    return splits;
  };
  const auto from = [](int64_t seed, const char* weights, const char* checksum) {
    return MadeRun{.seed = seed, .options = {{"start-from", weights}, {"start-checksum", checksum}}};
  };
  EXPECT_EQ(splits_of({from(1, "a", "crc32c:1"), from(1, "b", "crc32c:2"), {}}),
            (std::vector<std::string>{"sort start-from=a", "sort start-from=b", "sort start-from=none"}));
  EXPECT_EQ(splits_of({from(1, "a", "crc32c:1"), from(2, "a", "crc32c:2")}),
            (std::vector<std::string>{"sort", "sort"}));
  EXPECT_EQ(splits_of({from(1, "a-1", "crc32c:1"), from(2, "a-2", "crc32c:2")}),
            (std::vector<std::string>{"sort", "sort"}))
      << "each seed goes on with its own";
  const auto pretrained = [](const char* encoding, const char* weights) {
    return MadeRun{.encoding = encoding, .options = {{"start-from", weights}}};
  };
  EXPECT_EQ(splits_of({pretrained("nope", "text/nope-1"), pretrained("nope", ""), pretrained("rope", "text/rope-1"),
                       pretrained("rope", "")}),
            (std::vector<std::string>{"sort start-from=text", "sort start-from=none", "sort start-from=text",
                                      "sort start-from=none"}))
      << "and each encoding with its own";
}

TEST(SplitLabels, OwnDataIsNamedAfterItsFolder) {
  const TemporaryFolder folder;
  make_run(folder / "1", {.task = "", .options = {{"data", "/some/where/chess/"}}});
  const Results results = load_results(folder.path());
  EXPECT_EQ(results.runs[0].split, "chess");
  EXPECT_EQ(results.runs[0].category, "");
}

TEST(SplitLabels, ATunedOptionIsPartOfNoName) {
  const TemporaryFolder folder;
  int number = 0;
  for (const char* encoding : {"nope", "t5"}) {
    for (const auto& [lr, warmup] : {std::pair{0.001, 10}, std::pair{0.01, 20}}) {
      make_run(folder / std::to_string(number++),
               {.encoding = encoding, .options = {{"lr", lr}, {"warmup", warmup}, {"dropout", 0.1}}});
    }
  }
  const Results plain = load_results(folder.path());
  EXPECT_EQ(plain.runs[0].split, "sort lr=0.001");
  const Results tuned = load_results(folder.path(), {.tune = {"lr"}});
  for (const StoredRun& run : tuned.runs) {
    EXPECT_EQ(run.split, "sort") << "the warmup follows from the rate";
    EXPECT_FALSE(run.repeats);
  }
  EXPECT_EQ(tuned.runs[0].tuned, "lr=0.001");
  EXPECT_EQ(tuned.runs[3].tuned, "lr=0.01");
  EXPECT_TRUE(tuned.notes.empty());
  EXPECT_EQ(error_of(folder.path(), {.tune = {"lrr"}}), "--tune: no run has an option 'lrr'; did you mean 'lr'?");
  EXPECT_EQ(error_of(folder.path(), {.tune = {"seed"}}), "--tune: 'seed' is not an option to choose by validation");
}

TEST(SplitLabels, AStudySaysWhatItTunes) {
  const TemporaryFolder folder;
  make_run(folder / "runs" / "a", {.options = {{"lr", 0.001}}});
  make_run(folder / "runs" / "b", {.options = {{"lr", 0.01}}});
  write_file(folder / "study.json", R"({"format":"lengthwise-study","version":1,"varies":["lr"],"tune":["lr"],
    "runs":[{"name":"a","state":"finished"},{"name":"b","state":"finished"}]})");
  const Results results = load_results(folder.path());
  EXPECT_EQ(results.runs[1].split, "sort");
  EXPECT_EQ(results.runs[1].tuned, "lr=0.01");
}

TEST(Tidy, HasARowPerRunAndLength) {
  const TemporaryFolder folder;
  make_run(folder / "a", {});
  make_run(folder / "b", {.encoding = "t5", .finished = false});
  const Results results = load_results(folder.path());
  EXPECT_EQ(tidy_csv(results),
            "run,split,category,task,encoding,seed,scratchpad,tuned,train_limit,set,length,longer,count,correct,"
            "accuracy,low,high,loss,encoding_label,encoding_family\n"
            "a,sort,reasoning,sort,nope,1,false,,2,validation,1,false,10,10,1,0.1,0.9,0.25,NoPE,none\n"
            "a,sort,reasoning,sort,nope,1,false,,2,validation,2,false,10,10,1,0.1,0.9,0.25,NoPE,none\n"
            "a,sort,reasoning,sort,nope,1,false,,2,test,3,true,10,5,0.5,0.1,0.9,0.25,NoPE,none\n"
            "a,sort,reasoning,sort,nope,1,false,,2,test,4,true,10,2,0.2,0.1,0.9,0.25,NoPE,none\n");
  const auto json = nlohmann::json::parse(tidy_json(results));
  ASSERT_EQ(json.size(), 4u);
  EXPECT_EQ(json[2]["accuracy"], 0.5);
  EXPECT_EQ(json[2]["train_limit"], 2);
  EXPECT_TRUE(is_tidy_csv(tidy_csv(results)));
  EXPECT_TRUE(is_tidy_csv("run,split,category,task,encoding,seed,set,length\n")) << "as an earlier version began";
  EXPECT_FALSE(is_tidy_csv("name,score\n"));
}

TEST(Tidy, IsWhatItWasReadFrom) {
  const TemporaryFolder folder;
  make_run(folder / "a", {.encoding = "=x"});
  make_run(folder / "b", {.encoding = "t5", .options = {{"scratchpad", "full"}}, .first_test = 2});
  const std::string csv = tidy_csv(load_results(folder.path()));
  EXPECT_NE(csv.find(",'=x,"), std::string::npos) << csv;
  const std::vector<Score> scores = parse_scores(csv, "own.csv");
  ASSERT_EQ(scores.size(), 2u);
  EXPECT_EQ(scores[0].encoding, "=x");
  EXPECT_TRUE(scores[1].scratchpad);
  EXPECT_EQ(scores[1].inside.count, 10);
  // A table of scores is written and read again without loss, too.
  EXPECT_EQ(tidy_csv(parse_scores(tidy_csv(scores), "own.csv")), tidy_csv(scores));
}

}  // namespace
}  // namespace lengthwise
