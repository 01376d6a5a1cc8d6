// Whole small runs: what is left on disk, and that nothing depends on interruptions.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/error.h"
#include "core/files.h"
#include "eval/load_run.h"
#include "model/decoder.h"
#include "tasks/registry.h"
#include "tests/core/mistake.h"
#include "tests/eval/small_run.h"
#include "train/checkpoint.h"
#include "train/trainer.h"

namespace lengthwise {
namespace {

TEST(Run, LeavesEverythingInItsFolder) {
  const fs::path path = fresh("whole");
  run_in(path, small_run("t5"));
  for (const char* name :
       {"config.json", "vocabulary.json", "metrics.jsonl", "events.out.tfevents.lengthwise", "best.safetensors",
        "last.safetensors", "state.safetensors", "eval.jsonl", "examples.jsonl", "summary.json"}) {
    EXPECT_TRUE(fs::exists(path / name)) << name;
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(path)) {
    EXPECT_FALSE(entry.path().string().ends_with(".part")) << entry.path();
  }
  const auto summary = nlohmann::json::parse(read_file(path / "summary.json"));
  EXPECT_GE(summary["in_distribution"].get<double>(), 0);
  EXPECT_TRUE(summary["out_of_distribution"].is_number());
  for (const char* length : {"1", "2", "3", "4", "5"})
    EXPECT_TRUE(summary["accuracy_by_length"].contains(length)) << length;
  const LoadedRun loaded = load_run(path, "last", "cpu");
  EXPECT_EQ(loaded.step, 24);
  EXPECT_EQ(loaded.config.model.encoding, "t5");
  EXPECT_EQ(load_run(path, "last", "cpu", "fp32").config.precision, "fp32");
  try {
    load_run(path, "last", "cpu", "fp16");
    FAIL() << "fp16 was taken";
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "--precision must be fp32, bf16, tf32 or auto, not 'fp16'");
  }
}

/// The bytes of the files that must not depend on interruptions.
std::map<std::string, std::string> results_of(const fs::path& path) {
  std::map<std::string, std::string> files;
  for (const char* name :
       {"metrics.jsonl", "best.safetensors", "last.safetensors", "eval.jsonl", "examples.jsonl", "summary.json"}) {
    files[name] = read_file(path / name);
  }
  return files;
}

class ResumedRun : public testing::TestWithParam<std::string> {};

TEST_P(ResumedRun, EndsInTheSameBits) {
  const TrainConfig config = small_run(GetParam());
  const fs::path whole = fresh("uninterrupted-" + GetParam());
  run_in(whole, config);
  // Stopped between checkpoints: what was written after step 8 is there, but the state is that of step 8.
  const fs::path cut = fresh("interrupted-" + GetParam());
  const PreparedRun prepared = prepare_run(config);
  {
    Decoder decoder(prepared.config.model, static_cast<uint64_t>(prepared.config.seed));
    const RunFolder folder = RunFolder::open(cut, prepared.config);
    folder.keep_data(prepared.fingerprint);
    folder.keep_trained(prepared.config.model);
    prepared.data->vocabulary.save(folder.file("vocabulary.json"));
    Progress quiet(Progress::Mode::quiet);
    struct Stop {};
    try {
      train(prepared.config, *prepared.data, decoder, folder, quiet, [](int64_t step) {
        if (step == 10) throw Stop{};
      });
    } catch (const Stop&) {
    }
    ASSERT_TRUE(folder.has_state());
    ASSERT_FALSE(fs::exists(folder.file("last.safetensors")));
    std::ofstream(folder.file("metrics.jsonl"), std::ios::app) << "{\"half a li";
  }
  run_in(cut, config);
  const auto expected = results_of(whole);
  for (const auto& [name, bytes] : results_of(cut)) EXPECT_TRUE(bytes == expected.at(name)) << name << " differs";
}

INSTANTIATE_TEST_SUITE_P(Encodings, ResumedRun, testing::Values("nope", "t5", "rope"),
                         [](const auto& instance) { return instance.param; });

std::vector<nlohmann::json> examples_of(const fs::path& path) {
  std::vector<nlohmann::json> examples;
  std::istringstream lines(read_file(path / "examples.jsonl"));
  for (std::string line; std::getline(lines, line);) examples.push_back(nlohmann::json::parse(line));
  return examples;
}

TEST(Run, KeepsAnswersJustPastTheTrainingLengths) {
  const fs::path path = fresh("answers");
  TrainConfig config = small_run("nope");
  config.data.test_lengths = LengthRange{3, 9};
  run_in(path, config);
  std::map<int64_t, int> by_length;
  for (const auto& example : examples_of(path)) {
    ++by_length[example["length"].get<int64_t>()];
    EXPECT_EQ(example["correct"],
              find_task("sort").is_right(example["answer"].get<std::string>(), example["target"].get<std::string>()))
        << example;
    // The target is the task's own solution of the prompt.
    EXPECT_EQ(find_task("sort").solve(example["prompt"].get<std::string>(), {}), example["target"].get<std::string>());
  }
  EXPECT_EQ(by_length, (std::map<int64_t, int>{{4, 4}, {5, 4}, {6, 4}})) << "3 is a length of training";
}

/// The summary of a run whose test lengths are these, where training has 1 to 3.
nlohmann::json summary_with(std::optional<LengthRange> test_lengths, int64_t count) {
  TrainConfig config = small_run("nope");
  config.data.test_lengths = test_lengths;
  config.data.test_count = count;
  config.steps = 6;
  const fs::path path = fresh("lengths");
  run_in(path, config);
  return nlohmann::json::parse(read_file(path / "summary.json"));
}

TEST(Run, CallsOnlyThatLongerWhichIs) {
  const nlohmann::json mixed = summary_with(LengthRange{2, 5}, 40);
  EXPECT_EQ(mixed["best"]["out_of_distribution_interval"]["count"].get<int64_t>(), 20);
  EXPECT_EQ(mixed["best"]["test_interval"]["count"].get<int64_t>(), 40);
  EXPECT_TRUE(mixed["out_of_distribution"].is_number());
  for (const nlohmann::json& none : {summary_with(LengthRange{1, 3}, 30), summary_with(LengthRange{4, 5}, 0)}) {
    EXPECT_TRUE(none["out_of_distribution"].is_null());
    EXPECT_TRUE(none["best"]["out_of_distribution"].is_null());
    EXPECT_TRUE(none["best"]["out_of_distribution_interval"]["accuracy"].is_null());
    EXPECT_TRUE(none["in_distribution"].is_number());
  }
}

TEST(Run, WatchesLongerLengthsWithoutAnyEffect) {
  const fs::path blind = fresh("blind");
  const fs::path watching = fresh("watching");
  TrainConfig config = small_run("rope");
  run_in(blind, config);
  config.watch_longer = 20;
  run_in(watching, config);
  auto expected = results_of(blind);
  auto found = results_of(watching);
  int watched = 0;
  std::istringstream lines(found["metrics.jsonl"]);
  for (std::string line; std::getline(lines, line);) {
    const auto row = nlohmann::json::parse(line);
    EXPECT_EQ(row.contains("validation_exact_match"), row.contains("longer_exact_match")) << line;
    if (!row.contains("longer_loss")) continue;
    ++watched;
    EXPECT_GT(row["longer_loss"].get<double>(), 0);
    EXPECT_GE(row["longer_exact_match"].get<double>(), 0);
  }
  EXPECT_EQ(watched, 4);
  for (auto* files : {&expected, &found}) {
    files->erase("metrics.jsonl");
    // The summary records what its configuration and its metrics were, and these differ.
    auto summary = nlohmann::ordered_json::parse(files->at("summary.json"));
    summary.erase("files");
    summary.erase("checksum");
    files->at("summary.json") = summary.dump();
  }
  EXPECT_EQ(found, expected);
}

TEST(Run, OfAnotherConfigurationIsNotTouched) {
  const fs::path path = fresh("other");
  run_in(path, small_run("nope"));
  const auto before = results_of(path);
  TrainConfig other = small_run("nope");
  other.lr = 1e-3;
  EXPECT_NE(mistake_of([&] { run_in(path, other); }).find("another configuration (--lr"), std::string::npos);
  EXPECT_EQ(results_of(path), before);
}

TEST(Run, DoesNotMoveIntoAFolderOfSomethingElse) {
  const fs::path path = fresh("foreign");
  make_folder(path);
  write_file(path / "thesis.tex", "precious");
  EXPECT_NE(mistake_of([&] { run_in(path, small_run("nope")); }).find("is not empty and holds no run"),
            std::string::npos);
  EXPECT_EQ(read_file(path / "thesis.tex"), "precious");
  EXPECT_FALSE(fs::exists(path / "config.json"));
}

TEST(Run, IsLockedWhileItRuns) {
  const fs::path path = fresh("locked");
  const PreparedRun prepared = prepare_run(small_run("nope"));
  const RunFolder held = RunFolder::open(path, prepared.config);
  EXPECT_NE(mistake_of([&] { RunFolder::open(path, prepared.config); }).find("another process"), std::string::npos);
}

TEST(Run, StopsWhenTheLossIsNotFinite) {
  const fs::path path = fresh("nan");
  TrainConfig config = small_run("nope");
  config.lr = 1e30;
  config.clip = 0;
  config.warmup = 0;
  const std::string message = mistake_of([&] { run_in(path, config); });
  EXPECT_NE(message.find("no longer finite at step"), std::string::npos) << message;
  EXPECT_NE(message.find("--lr"), std::string::npos);
  EXPECT_FALSE(fs::exists(path / "summary.json"));
}

TEST(Run, SaysBeforeTrainingThatATableIsTooShort) {
  const fs::path path = fresh("short-table");
  TrainConfig config = small_run("learned");
  config.model.encoding_options.max_positions = 12;
  const std::string message = mistake_of([&] { run_in(path, config); });
  EXPECT_NE(message.find("has 12 positions"), std::string::npos) << message;
  EXPECT_FALSE(fs::exists(path));
}

TEST(Run, TrainsAbsoluteEncodingsAtRandomOffsets) {
  TrainConfig config = small_run("learned");
  config.model.encoding_options.max_positions = 64;
  config.random_offset = 64;
  run_in(fresh("offsets"), config);
  Decoder decoder(prepare_run(config).config.model, 1);
  const at::Tensor start = decoder.parameters().all().back().value.detach().clone();
  ASSERT_EQ(decoder.parameters().all().back().name, "encoding.positions");
  read_weights(fresh("none").parent_path() / "offsets" / "last.safetensors", decoder.parameters());
  const at::Tensor moved = (decoder.parameters().all().back().value - start).abs().sum(1);
  EXPECT_GT(moved.narrow(0, 50, 8).min().item<double>(), 0) << "late rows of the table are trained";
  TrainConfig wrong = small_run("t5");
  wrong.random_offset = 64;
  EXPECT_NE(mistake_of([&] { run_in(fresh("t5-offsets"), wrong); }).find("--random-offset means nothing"),
            std::string::npos);
}

TEST(Run, ScratchpadsAreJudgedByTheirAnswer) {
  TrainConfig config = small_run("nope");
  config.data.task = "parity";
  config.data.train_lengths = LengthRange{2, 3};
  config.data.test_lengths = LengthRange{4, 4};
  config.data.test_count = 8;
  config.data.train_count = 200;
  from_text("minimal", config.data.scratchpad);
  config.steps = 6;
  const auto results = run_in(fresh("scratchpad"), config);
  EXPECT_EQ(results.front().test.all.count, 8);
  const auto summary = nlohmann::json::parse(read_file(fresh("none").parent_path() / "scratchpad" / "summary.json"));
  EXPECT_EQ(summary["decoding"], "greedy-where-needed");
  EXPECT_EQ(examples_of(fresh("none").parent_path() / "scratchpad").size(), 4u);
}

}  // namespace
}  // namespace lengthwise
