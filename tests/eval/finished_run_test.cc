// What was written is checked before it is believed: results of finished runs, weights, states, data.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "arena/safetensors.h"
#include "core/checksum.h"
#include "core/error.h"
#include "core/files.h"
#include "eval/load_run.h"
#include "tests/core/mistake.h"
#include "tests/eval/small_run.h"
#include "train/checkpoint.h"

namespace lengthwise {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::map<std::string, std::string> bytes_of(const fs::path& run) {
  std::map<std::string, std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(run))
    files[entry.path().filename().string()] = read_file(entry.path());
  return files;
}

void flip_bit(const fs::path& path, size_t byte) {
  std::string bytes = read_file(path);
  bytes.at(byte) = static_cast<char>(bytes[byte] ^ 1);
  write_file(path, bytes);
}

TEST(FinishedRun, RecordsWhatItsFilesWere) {
  const fs::path path = fresh("recorded");
  run_in(path, small_run("nope"));
  auto summary = nlohmann::ordered_json::parse(read_file(path / "summary.json"));
  for (const char* name : {"config.json", "vocabulary.json", "metrics.jsonl", "eval.jsonl", "examples.jsonl",
                           "best.safetensors", "last.safetensors"}) {
    EXPECT_EQ(summary["files"][name].get<std::string>(), checksum_of(read_file(path / name))) << name;
  }
  const auto checksum = summary["checksum"].get<std::string>();
  EXPECT_EQ(std::prev(summary.end()).key(), "checksum");
  summary.erase("checksum");
  EXPECT_EQ(checksum, checksum_of(summary.dump()));
}

TEST(FinishedRun, IsNeverEvaluatedOver) {
  const fs::path path = fresh("never-over");
  const std::vector<SelectionResult> first = run_in(path, small_run("nope"));
  const auto before = bytes_of(path);
  const std::vector<SelectionResult> again = run_in(path, small_run("nope"));
  EXPECT_EQ(bytes_of(path), before);
  ASSERT_EQ(again.size(), first.size());
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(again[i].step, first[i].step);
    EXPECT_EQ(again[i].longer.correct, first[i].longer.correct);
    EXPECT_NEAR(again[i].longer.mean_loss(), first[i].longer.mean_loss(), 1e-12);
    EXPECT_NEAR(again[i].validation.all.mean_loss(), first[i].validation.all.mean_loss(), 1e-12);
    ASSERT_EQ(again[i].test.by_length.size(), first[i].test.by_length.size());
    for (const auto& [length, accuracy] : first[i].test.by_length) {
      EXPECT_EQ(again[i].test.by_length.at(length).correct, accuracy.correct);
      EXPECT_NEAR(again[i].test.by_length.at(length).mean_loss(), accuracy.mean_loss(), 1e-12);
    }
  }
}

TEST(FinishedRun, WithAnyDamagedFileIsRefusedAndLeft) {
  const fs::path path = fresh("damaged");
  run_in(path, small_run("nope"));
  const auto good = bytes_of(path);
  for (const char* name : {"best.safetensors", "last.safetensors", "eval.jsonl", "metrics.jsonl", "examples.jsonl",
                           "vocabulary.json", "config.json", "summary.json"}) {
    const size_t size = good.at(name).size();
    for (const size_t byte : {size / 3, size - 2}) {
      flip_bit(path / name, byte);
      const auto before = bytes_of(path);
      const std::string message = mistake_of([&] { run_in(path, small_run("nope")); });
      EXPECT_TRUE(contains(message, name)) << name << " " << byte << ": " << message;
      EXPECT_EQ(bytes_of(path), before) << name;
      write_file(path / name, good.at(name));
    }
  }
  flip_bit(path / "best.safetensors", good.at("best.safetensors").size() - 9);
  EXPECT_TRUE(contains(mistake_of([&] { load_run(path, "best", "cpu"); }), "best.safetensors"));
  EXPECT_EQ(load_run(path, "last", "cpu").step, 24);
}

TEST(FinishedRun, WithoutItsWeightsStillHasItsResults) {
  const fs::path path = fresh("dropped");
  run_in(path, small_run("nope"));
  for (const char* name : {"best.safetensors", "last.safetensors", "state.safetensors"}) fs::remove(path / name);
  EXPECT_EQ(run_in(path, small_run("nope")).back().step, 24);
  EXPECT_TRUE(contains(mistake_of([&] { load_run(path, "best", "cpu"); }), "its weights were dropped"));
}

TEST(LoadedRun, RefusesAVocabularyThatTheEmbeddingHasNoRowsFor) {
  const fs::path path = fresh("rows");
  run_in(path, small_run("nope"));
  fs::remove(path / "summary.json");
  const Vocabulary before = Vocabulary::load(path / "vocabulary.json");
  Vocabulary more = before;
  more.add("twaddle");
  more.save(path / "vocabulary.json");
  const std::string message = mistake_of([&] { load_run(path, "best", "cpu"); });
  EXPECT_TRUE(contains(message, fmt::format("vocabulary.json has {} tokens", before.size() + 1))) << message;
  EXPECT_TRUE(contains(message, fmt::format("has {} rows", before.size()))) << message;
  before.save(path / "vocabulary.json");
  // Sizes that would take all memory there is.
  auto config = nlohmann::ordered_json::parse(read_file(path / "config.json"));
  config["options"]["layers"] = 1000;
  config["options"]["width"] = 65536;
  config["options"]["head-dim"] = 1024;
  config["options"]["heads"] = 64;
  config.erase("checksum");
  write_file(path / "config.json", config.dump());
  EXPECT_TRUE(contains(mistake_of([&] { load_run(path, "best", "cpu"); }), "too few for the"));
}

/// A run that stopped between two checkpoints, and its state for a test to damage.
class BegunRun : public testing::Test {
 protected:
  void SetUp() override {
    struct StopAfter : Progress {
      StopAfter() : Progress(Mode::quiet) {}
      void update(int64_t done, int64_t, const std::string&) override {
        if (done == 10) throw Interrupted();
      }
    } progress;
    path_ = fresh(testing::UnitTest::GetInstance()->current_test_info()->name());
    EXPECT_THROW(execute_run(prepare_run(small_run("nope")), path_, progress), Interrupted);
    good_ = read_file(path_ / "state.safetensors");
  }

  /// What the same command says about a state with another number.
  std::string with(const std::string& key, const std::string& value) {
    write_file(path_ / "state.safetensors", good_);
    TensorFile file = read_safetensors(path_ / "state.safetensors");
    file.metadata[key] = value;
    write_safetensors(path_ / "state.safetensors", file);
    return mistake_of([&] { run_in(path_, small_run("nope")); });
  }

  fs::path path_;
  std::string good_;
};

TEST_F(BegunRun, IsStoppedByNumbersNoStateCanHave) {
  for (const auto& [key, value] : std::vector<std::pair<std::string, std::string>>{{"step", "-1"},
                                                                                   {"step", "-9223372036854775808"},
                                                                                   {"step", "25"},
                                                                                   {"step", "ten"},
                                                                                   {"validated", "11"},
                                                                                   {"best_step", "11"},
                                                                                   {"best_step", "-2"},
                                                                                   {"best_score", "10001"},
                                                                                   {"metrics_bytes", "-1"},
                                                                                   {"events_bytes", "-1"},
                                                                                   {"tokens", "-5"},
                                                                                   {"seconds", "-1"},
                                                                                   {"format", "lengthwise-weights"}}) {
    EXPECT_TRUE(contains(with(key, value), "state.safetensors")) << key << " " << value;
  }
  EXPECT_TRUE(contains(with("metrics_bytes", "99999999"), "metrics.jsonl was cut short"));
  EXPECT_FALSE(fs::exists(path_ / "summary.json"));
}

TEST_F(BegunRun, IsStoppedByMetricsThatAreNotItsOwn) {
  const std::string metrics = read_file(path_ / "metrics.jsonl");
  write_file(path_ / "metrics.jsonl", metrics.substr(0, metrics.size() / 2));
  EXPECT_TRUE(contains(mistake_of([&] { run_in(path_, small_run("nope")); }), "metrics.jsonl was cut short"));
  std::string edited = metrics;
  edited.replace(edited.find("\"loss\":") + 7, 1, "9");
  write_file(path_ / "metrics.jsonl", edited);
  EXPECT_TRUE(contains(mistake_of([&] { run_in(path_, small_run("nope")); }), "metrics.jsonl was changed"));
  write_file(path_ / "metrics.jsonl", metrics);
  EXPECT_EQ(run_in(path_, small_run("nope")).back().step, 24);
}

TEST_F(BegunRun, DoesNotGoOnWithOtherData) {
  auto config = nlohmann::ordered_json::parse(read_file(path_ / "config.json"));
  EXPECT_TRUE(config["data_fingerprint"].is_string());
  PreparedRun prepared = prepare_run(small_run("nope"));
  DataSet other = *prepared.data;
  std::swap(other.train.tokens[3], other.train.tokens[4]);
  const auto changed = std::make_shared<const DataSet>(other);
  Progress quiet(Progress::Mode::quiet);
  const auto before = bytes_of(path_);
  const std::string message = mistake_of([&] { execute_run(prepare_run(small_run("nope"), changed), path_, quiet); });
  EXPECT_TRUE(contains(message, "have changed since it was begun")) << message;
  EXPECT_EQ(bytes_of(path_), before);
  EXPECT_EQ(execute_run(prepared, path_, quiet).back().step, 24);
}

}  // namespace
}  // namespace lengthwise
