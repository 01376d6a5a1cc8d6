// Which run lies in a folder, whichever version wrote it.
#include "train/run_folder.h"

#include <gtest/gtest.h>

#include "core/files.h"
#include "core/json.h"
#include "tests/core/temporary_folder.h"

namespace lengthwise {
namespace {

class RunFolderTest : public testing::Test {
 protected:
  Json saved() const { return Json::parse(read_file(folder_ / "run/config.json")); }
  void save(Json json) const {
    make_folder(folder_ / "run");
    seal(json);
    write_file(folder_ / "run/config.json", json.dump(2));
  }

  template <class Error>
  std::string message_of(const std::function<void()>& body) const {
    try {
      body();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  TemporaryFolder folder_;
  TrainConfig config_;
};

TEST_F(RunFolderTest, AMissingOptionIsItsDefault) {
  Json json = Json::parse(run_config_json(config_));
  json["options"].erase("start-checksum");
  json["options"].erase("random-offset");
  save(json);
  EXPECT_EQ(difference_to_saved(folder_ / "run", config_), "");
  EXPECT_EQ(read_run_config(folder_ / "run").random_offset, 0);
  config_.random_offset = 64;
  EXPECT_EQ(difference_to_saved(folder_ / "run", config_), "--random-offset is 0 there and 64 here");
}

TEST_F(RunFolderTest, ADamagedConfigurationIsNotBelieved) {
  RunFolder::open(folder_ / "run", config_);
  std::string text = read_file(folder_ / "run/config.json");
  text.replace(text.find("\"seed\": 1") + 8, 1, "2");
  write_file(folder_ / "run/config.json", text);
  EXPECT_NE(message_of<UserError>([&] { read_run_config(folder_ / "run"); }).find("config.json is damaged"),
            std::string::npos);
}

TEST_F(RunFolderTest, WhereWeightsLieDoesNotDecide) {
  config_.start_from = "here";
  config_.start_checksum = "crc32c:01234567";
  save(Json::parse(run_config_json(config_)));
  config_.start_from = "there";
  EXPECT_EQ(difference_to_saved(folder_ / "run", config_), "");
  config_.start_checksum = "crc32c:89abcdef";
  EXPECT_NE(difference_to_saved(folder_ / "run", config_), "");
}

TEST_F(RunFolderTest, WhatANewerVersionWroteIsSaidToBeThat) {
  Json json = Json::parse(run_config_json(config_));
  json["lengthwise"] = "9.7.0";
  json["options"]["learning-to-fly"] = 1;
  save(json);
  for (const auto& read : std::vector<std::function<void()>>{[&] { read_run_config(folder_ / "run"); },
                                                             [&] { difference_to_saved(folder_ / "run", config_); },
                                                             [&] { RunFolder::open(folder_ / "run", config_); }}) {
    const std::string message = message_of<NewerRun>(read);
    EXPECT_NE(message.find("the option 'learning-to-fly', which lengthwise"), std::string::npos) << message;
    EXPECT_NE(message.find("lengthwise 9.7.0 wrote it"), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos);
  }
  json["options"].erase("learning-to-fly");
  json["version"] = 2;
  save(json);
  EXPECT_NE(message_of<NewerRun>([&] { read_run_config(folder_ / "run"); }).find("format version 2"),
            std::string::npos);
}

TEST_F(RunFolderTest, MakesRoomOnlyWhileNothingWasDone) {
  RunFolder::open(folder_ / "run", config_);
  config_.seed = 2;
  RunFolder::open(folder_ / "run", config_);
  EXPECT_EQ(read_run_config(folder_ / "run").seed, 2);
  write_file(folder_ / "run/metrics.jsonl", "{}\n");
  config_.seed = 3;
  EXPECT_NE(message_of<UserError>([&] { RunFolder::open(folder_ / "run", config_); }).find("--seed is 2 there and 3"),
            std::string::npos);
  config_.seed = 2;
  config_.steps = 7;
  EXPECT_NE(message_of<UserError>([&] { RunFolder::open(folder_ / "run", config_); }).find("--start-from "),
            std::string::npos)
      << "who wants more steps is told how";
}

TEST_F(RunFolderTest, SaysWhichDataVersionGoesOnWithAnOlderRun) {
  save(Json::parse(run_config_json(config_)));
  write_file(folder_ / "run/metrics.jsonl", "{}\n");
  config_.data.data_version = 2;
  const auto message = [&] { return message_of<UserError>([&] { RunFolder::open(folder_ / "run", config_); }); };
  EXPECT_EQ(message(), (folder_ / "run").string() +
                           " holds a run with another configuration (--data-version is 1 there and 2 here); choose "
                           "another --out, or go on with it by --data-version 1");
  config_.seed = 2;
  EXPECT_TRUE(message().ends_with("; choose another --out")) << "it would still be another run";
}

TEST_F(RunFolderTest, HoldsARunToItsData) {
  {
    const RunFolder folder = RunFolder::open(folder_ / "run", config_);
    folder.keep_data("one");
    folder.keep_data("two");
    EXPECT_EQ(saved()["data_fingerprint"].get<std::string>(), "two") << "nothing was learned from the first";
    write_file(folder.file("state.safetensors"), "something");
    folder.keep_data("two");
    EXPECT_NE(message_of<UserError>([&] { folder.keep_data("one"); }).find("the data of"), std::string::npos);
  }
  Json json = saved();
  json.erase("data_fingerprint");
  save(json);
  RunFolder::open(folder_ / "run", config_).keep_data("anything");
  EXPECT_FALSE(saved().contains("data_fingerprint")) << "begun by a version that did not know its data";
}

}  // namespace
}  // namespace lengthwise
