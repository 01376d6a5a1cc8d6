/// `lengthwise train`: what it warns of, how it is stopped, what it says of a finished run.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <nlohmann/json.hpp>

#include "core/files.h"
#include "tests/cli/program.h"
#include "tests/core/temporary_folder.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

/// A run of a second, and more options.
Words train(const fs::path& out, const Words& more = {}) {
  Words words{"train", "--task",  "sort",      "--train-lengths", "1:4", "--train-count", "200", "--layers",
              "1",     "--width", "32",        "--device",        "cpu", "--threads",     "1",   "--precision",
              "fp32",  "--out",   out.string()};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

Words small(const fs::path& out, const Words& more = {}) {
  Words words =
      train(out, {"--test-lengths", "5:6", "--test-count", "20", "--steps", "12", "--validate-every", "6", "--quiet"});
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

nlohmann::json json_of(const fs::path& path) {
  return nlohmann::json::parse(read_file(path));
}

TEST(TrainCommand, CallsLengthsWhatTheyAre) {
  const TemporaryFolder folder;
  const Outcome mixed = run_program(small(folder / "mixed", {"--test-lengths", "3:6"}));
  EXPECT_EQ(mixed.status, 0) << mixed.err;
  EXPECT_EQ(
      mixed.err,
      "warning: 10 of the 20 test examples are no longer than those of training (up to length 4); only the others "
      "count as longer\n");
  EXPECT_TRUE(contains(mixed.out, "test set")) << mixed.out;
  EXPECT_TRUE(contains(mixed.out, "longer")) << mixed.out;
  const Outcome inside = run_program(small(folder / "inside", {"--test-lengths", "2:3"}));
  EXPECT_TRUE(contains(inside.err, "warning: no test example is longer")) << inside.err;
  EXPECT_FALSE(contains(inside.out, "longer")) << inside.out;
  EXPECT_TRUE(json_of(folder / "inside/summary.json")["out_of_distribution"].is_null());
  const Outcome plain = run_program(small(folder / "plain"));
  EXPECT_EQ(plain.err, "");
  EXPECT_FALSE(contains(plain.out, "test set")) << plain.out;
}

TEST(TrainCommand, ShowsWhatOtherEncodingsMakeOfTheWeights) {
  const TemporaryFolder folder;
  const Outcome trained = run_program(
      small(folder / "rope", {"--encoding", "rope", "--measure-with", "yarn(factor=2),window(size=8)+rope"}));
  ASSERT_EQ(trained.status, 0) << trained.err;
  std::map<std::string, std::pair<int64_t, int64_t>> longer;  // correct and all, by encoding
  for (const std::string& line : lines_of(read_file(folder / "rope/readings.jsonl"))) {
    const nlohmann::json row = nlohmann::json::parse(line);
    if (row["length"].is_null() || row["length"] < 5 || row.contains("category")) continue;
    longer[row["encoding"]].first += row["correct"].get<int64_t>();
    longer[row["encoding"]].second += row["count"].get<int64_t>();
  }
  ASSERT_EQ(longer.size(), 2u);
  for (const auto& [encoding, sums] : longer) {
    EXPECT_EQ(sums.second, 20);
    const std::string accuracy = fmt::format("{:.4f}", static_cast<double>(sums.first) / 20);
    const std::vector<std::string> rows = lines_of(trained.out);
    EXPECT_TRUE(std::any_of(rows.begin(), rows.end(),
                            [&](const std::string& row) {
                              return row.starts_with(encoding) && contains(row, " longer ") &&
                                     contains(row, " " + accuracy + " ");
                            }))
        << encoding << "\n"
        << trained.out;
  }
  EXPECT_FALSE(contains(run_program(small(folder / "plain")).out, "read with"));
}

TEST(TrainCommand, WarnsOfWordsItCannotLearn) {
  const TemporaryFolder folder;
  make_folder(folder / "own");
  const std::string known = R"({"prompt":"say a b","target":"a b","length":2})";
  write_file(folder / "own/train.jsonl", known + "\n");
  write_file(folder / "own/validation.jsonl", known + "\n");
  write_file(folder / "own/test.jsonl",
             std::string(R"({"prompt":"say a b zebra","target":"a b zebra","length":3})") + "\n");
  const Outcome outcome =
      run_program({"train", "--data", (folder / "own").string(), "--layers", "1", "--width", "32", "--steps", "2",
                   "--device", "cpu", "--threads", "1", "--quiet", "--out", (folder / "run").string()});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "warning: 1 word of the test set never occurs in training: 'zebra'\n");
}

TEST(TrainCommand, StopsOnASignalAndGoesOnInTheSameBits) {
  const TemporaryFolder folder;
  const Words more = {"--test-lengths", "5:6", "--test-count", "20", "--steps", "1500", "--quiet"};
  for (const auto& [signal, status] : {std::pair{SIGINT, 130}, std::pair{SIGTERM, 143}}) {
    const fs::path out = folder / ("stopped-" + std::to_string(status));
    RunningProgram program(train(out, more));
    while (!fs::exists(out / "metrics.jsonl") && !program.ends_within(0.01)) continue;
    program.send(signal);
    const Outcome stopped = program.wait();
    EXPECT_EQ(stopped.status, status) << stopped.err;
    EXPECT_EQ(stopped.out, "");
    EXPECT_TRUE(stopped.err.starts_with("stopped after step ")) << stopped.err;
    EXPECT_TRUE(stopped.err.ends_with(" of 1500, which is saved; the same command goes on from here\n")) << stopped.err;
    EXPECT_TRUE(fs::exists(out / "state.safetensors"));
    EXPECT_EQ(run_program(train(out, more)).status, 0);
  }
  EXPECT_EQ(run_program(train(folder / "whole", more)).status, 0);
  for (const char* name : {"metrics.jsonl", "best.safetensors", "last.safetensors", "eval.jsonl", "summary.json"}) {
    EXPECT_TRUE(read_file(folder / "stopped-130" / name) == read_file(folder / "whole" / name)) << name;
    EXPECT_TRUE(read_file(folder / "stopped-143" / name) == read_file(folder / "whole" / name)) << name;
  }
}

TEST(TrainCommand, OfAFinishedRunShowsItsResultsAgain) {
  const TemporaryFolder folder;
  const fs::path out = folder / "run";
  const Outcome first = run_program(small(out));
  const std::string summary = read_file(out / "summary.json");
  const Outcome again = run_program(small(out));
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(again.out, first.out);
  std::string weights = read_file(out / "best.safetensors");
  weights[weights.size() - 6] = static_cast<char>(weights[weights.size() - 6] ^ 4);
  write_file(out / "best.safetensors", weights);
  EXPECT_TRUE(contains(mistake(small(out)), "best.safetensors"));
  EXPECT_EQ(read_file(out / "summary.json"), summary);
  EXPECT_TRUE(contains(mistake({"eval", out.string()}), "best.safetensors"));
}

TEST(TrainCommand, BeginsWithTheWeightsOfAnotherRun) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_program(small(folder / "first")).status, 0);
  const Outcome second = run_program(
      small(folder / "second", {"--start-from", (folder / "first").string(), "--encoding", "t5", "--no-quiet"}));
  EXPECT_EQ(second.status, 0) << second.err;
  EXPECT_TRUE(contains(second.err, "beginning with ")) << second.err;
  EXPECT_TRUE(contains(second.err, "begun anew: encoding.relative_bias")) << second.err;
  const auto options = json_of(folder / "second/config.json")["options"];
  EXPECT_EQ(options["start-from"].get<std::string>(), (folder / "first").string());
  EXPECT_TRUE(options["start-checksum"].get<std::string>().starts_with("crc32c:"));
  fs::rename(folder / "first", folder / "moved");
  const Outcome again =
      run_program(small(folder / "second", {"--start-from", (folder / "moved").string(), "--encoding", "t5"}));
  EXPECT_EQ(again.status, 0) << "the same weights elsewhere are the same run: " << again.err;
  EXPECT_TRUE(contains(mistake(small(folder / "third", {"--start-checksum", "crc32c:00000000", "--start-from",
                                                        (folder / "moved").string()})),
                       "not --start-checksum crc32c:00000000"));
  EXPECT_FALSE(fs::exists(folder / "third"));
}

TEST(TrainCommand, BeginsWithDisturbedWeights) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_program(small(folder / "first")).status, 0);
  const auto second = [&](const std::string& name, const Words& more) {
    Words words = small(folder / name, {"--start-from", (folder / "first").string(), "--steps", "1", "--no-quiet"});
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = run_program(words);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return outcome.err;
  };
  EXPECT_FALSE(contains(second("plain", {}), "disturbed"));
  EXPECT_FALSE(contains(second("none", {"--start-noise", "0"}), "disturbed"));
  EXPECT_TRUE(contains(second("some", {"--start-noise", "0.5"}), "; disturbed by 0.5\n"));
  second("again", {"--start-noise", "0.5"});
  const auto weights = [&](const char* name) { return read_file(folder / name / "last.safetensors"); };
  EXPECT_EQ(weights("plain"), weights("none"));
  EXPECT_NE(weights("plain"), weights("some"));
  EXPECT_EQ(weights("some"), weights("again"));
  EXPECT_EQ(json_of(folder / "some/config.json")["options"]["start-noise"].get<double>(), 0.5);
  EXPECT_TRUE(
      contains(mistake(small(folder / "third", {"--start-noise", "0.5"})), "--start-noise goes with --start-from"));
  EXPECT_TRUE(
      contains(mistake(small(folder / "third", {"--start-noise", "-1", "--start-from", (folder / "first").string()})),
               "--start-noise must be at least 0"));
  EXPECT_FALSE(fs::exists(folder / "third"));
}

TEST(TrainCommand, QuickRecordsItsNumbers) {
  const TemporaryFolder folder;
  const Outcome outcome =
      run_program({"train", "--task", "sort", "--layers", "1", "--width", "32", "--batch-size", "4", "--device", "cpu",
                   "--threads", "1", "--quick", "--quiet", "--out", (folder / "run").string()});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const auto options = json_of(folder / "run/config.json")["options"];
  EXPECT_EQ(options["steps"].get<int64_t>(), 300);
  EXPECT_EQ(options["test-count"].get<int64_t>(), 200);
  EXPECT_FALSE(options.contains("quick"));
}

TEST(TrainCommand, RefusedLeavesNothing) {
  const TemporaryFolder folder;
  EXPECT_TRUE(contains(mistake(small(folder / "run", {"--validation-count", "0"})), "leaves no validation example"));
  EXPECT_TRUE(contains(mistake(small(folder / "run", {"--threads", "99999"})), "--threads must be between 0 and "));
  EXPECT_TRUE(contains(mistake(small(folder / "run", {"--start-from", (folder / "nowhere").string()})), "nowhere"));
  EXPECT_FALSE(fs::exists(folder / "run"));
}

}  // namespace
}  // namespace lengthwise
