#include "data/data_config.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/data/temporary_folder.h"

namespace lengthwise {
namespace {

DataConfig of_task(const std::string& task) {
  DataConfig config;
  config.task = task;
  return config;
}

Scratchpad scratchpad(std::string_view text) {
  Scratchpad format;
  from_text(text, format);
  return format;
}

TEST(DataConfig, TakesTheTasksNumbersWhereNoneAreGiven) {
  const ResolvedData data = resolve(of_task("addition"));
  ASSERT_NE(data.task, nullptr);
  EXPECT_EQ(data.task->info().name, "addition");
  EXPECT_EQ(data.train_lengths, (LengthRange{1, 8}));
  EXPECT_EQ(data.test_lengths, (LengthRange{9, 16}));
  EXPECT_EQ(data.train_count, 100'000);
  EXPECT_EQ(data.validation_count, std::nullopt);
  EXPECT_EQ(data.test_count, 10'000);
  EXPECT_EQ(data.seed, 9842497u);
}

TEST(DataConfig, TakesTheUsersNumbers) {
  DataConfig config = of_task("addition");
  config.train_lengths = LengthRange{2, 3};
  config.train_count = 10;
  config.validation_count = 5;
  config.test_count = 7;
  config.data_seed = 3;
  const ResolvedData data = resolve(config);
  EXPECT_EQ(data.train_lengths, (LengthRange{2, 3}));
  EXPECT_EQ(data.train_count, 10);
  EXPECT_EQ(data.validation_count, 5);
  EXPECT_EQ(data.test_count, 7);
  EXPECT_EQ(data.seed, 3u);
}

TEST(DataConfig, LeavesFilesTheirNumbers) {
  DataConfig config;
  config.data = "somewhere";
  const ResolvedData data = resolve(config);
  EXPECT_EQ(data.task, nullptr);
  EXPECT_EQ(data.folder, "somewhere");
  EXPECT_EQ(data.train_lengths, std::nullopt);
  EXPECT_EQ(data.train_count, std::nullopt);
}

TEST(DataConfig, RefusesWhatMakesNoSense) {
  const auto reason = [](const std::function<void(DataConfig&)>& change) {
    DataConfig config = of_task("addition");
    change(config);
    return mistake_of([&] { resolve(config); });
  };
  EXPECT_EQ(reason([](DataConfig& config) { config.task.clear(); }),
            "no data: name a task with --task, a folder of JSONL files with --data, or prepared text with --text");
  EXPECT_EQ(reason([](DataConfig& config) { config.data = "x"; }),
            "--task and --data exclude each other; give one of them");
  EXPECT_NE(reason([](DataConfig& config) { config.task = "additoin"; }).find("did you mean 'addition'?"),
            std::string::npos);
  EXPECT_EQ(reason([](DataConfig& config) { config.train_count = -1; }),
            "--train-count -1 is not possible; it must lie between 0 and 100000000");
  EXPECT_EQ(reason([](DataConfig& config) { config.validation_count = 100'000'001; }),
            "--validation-count 100000001 is not possible; it must lie between 0 and 100000000");
  EXPECT_EQ(reason([](DataConfig& config) { config.test_count = -5; }),
            "--test-count -5 is not possible; it must lie between 0 and 100000000");
  EXPECT_EQ(reason([](DataConfig& config) { config.data_seed = -1; }), "--data-seed -1 is negative");
  EXPECT_EQ(reason([](DataConfig& config) {
              config.test_lengths = LengthRange{1, 20'000};
            }),
            "--test-lengths 1:20000 is too long; examples are drawn up to length 10000");
  EXPECT_EQ(reason([](DataConfig& config) { config.corpus = "x"; }),
            "--corpus goes with --task pcfg; the task addition has no corpus");
  EXPECT_NE(reason([](DataConfig& config) {
              config.task = "copy";
              config.scratchpad = scratchpad("full");
            }).find("copy has no scratchpad"),
            std::string::npos);
}

TEST(DataConfig, RefusesTaskOptionsWithFiles) {
  const auto reason = [](const std::function<void(DataConfig&)>& change) {
    DataConfig config;
    config.data = "x";
    change(config);
    return mistake_of([&] { resolve(config); });
  };
  EXPECT_EQ(reason([](DataConfig& config) { config.scratchpad = scratchpad("full"); }),
            "--scratchpad goes with --task; the targets of --data are used as they are");
  EXPECT_EQ(reason([](DataConfig& config) { config.wording = Wording::released; }),
            "--wording goes with --task; the texts of --data are used as they are");
  EXPECT_EQ(reason([](DataConfig& config) { config.corpus = "y"; }), "--corpus goes with --task pcfg, not with --data");
}

TEST(DataConfig, LeavesVariablesOutOfNamedFormatsWhereATaskHasNone) {
  DataConfig config = of_task("sort");
  config.scratchpad = scratchpad("full");
  EXPECT_EQ(to_text(resolve(config).style.scratchpad), "no-variables");
  config.scratchpad = scratchpad("i0_c1_o1_v1_r0");
  EXPECT_EQ(mistake_of([&] { resolve(config); }),
            "the scratchpad of sort carries no variables; --scratchpad minimal would be right");
  config.task = "addition";
  EXPECT_TRUE(resolve(config).style.scratchpad.variables);
}

TEST(DataConfig, SurvivesJson) {
  DataConfig config = of_task("sort");
  config.scratchpad = scratchpad("no-input");
  config.wording = Wording::released;
  config.test_lengths = LengthRange{3, 5};
  config.validation_count = 12;
  config.dedup = true;
  nlohmann::ordered_json json;
  add_to_json(config, json);
  DataConfig read;
  read_json(json, "test", read);
  nlohmann::ordered_json again;
  add_to_json(read, again);
  EXPECT_EQ(json, again);
  EXPECT_EQ(read.test_lengths, config.test_lengths);
  EXPECT_EQ(read.train_lengths, std::nullopt);
  EXPECT_TRUE(read.dedup);
}

TEST(Frame, OnlyTheReleasedWordingGoesWithoutSpecials) {
  DataConfig config = of_task("addition");
  EXPECT_EQ(frame_of(config), (Frame{true, true}));
  config.wording = Wording::released;
  EXPECT_EQ(frame_of(config), (Frame{false, false}));
  config = {};
  config.data = "x";
  EXPECT_EQ(frame_of(config), (Frame{true, true}));
}

}  // namespace
}  // namespace lengthwise
