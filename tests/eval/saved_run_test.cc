// Runs that earlier versions wrote (tests/eval/saved) stay what they are: readable, resumable, finished.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files.h"
#include "eval/engines.h"
#include "eval/test_set.h"
#include "tests/core/temporary_folder.h"
#include "tests/eval/small_run.h"
#include "train/checkpoint.h"

namespace lengthwise {
namespace {

const fs::path kSaved = fs::path(LENGTHWISE_SOURCE_DIR) / "tests" / "eval" / "saved";

/// The command in tests/eval/saved/README.md.
TrainConfig saved_config() {
  TrainConfig config;
  config.data.task = "parity";
  config.data.train_count = 300;
  config.data.validation_count = 40;
  config.data.test_count = 40;
  config.model.layers = 1;
  config.model.width = 16;
  config.model.heads = 2;
  config.model.ff_width = 16;
  config.model.encoding = "t5";
  config.device = "cpu";
  config.threads = 1;
  config.steps = 100;
  config.batch_size = 16;
  config.lr = 0.03;
  config.warmup = 0.1;
  config.validate_every = 25;
  return config;
}

class SavedRun : public testing::Test {
 protected:
  /// A copy that may be written to.
  fs::path copy_of(const std::string& name) {
    fs::copy(kSaved / name, folder_ / name);
    return folder_ / name;
  }

  static std::map<std::string, std::string> bytes_of(const fs::path& run) {
    std::map<std::string, std::string> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(run)) {
      if (entry.path().filename() != ".lock") files[entry.path().filename().string()] = read_file(entry.path());
    }
    return files;
  }

  TemporaryFolder folder_;
};

TEST_F(SavedRun, IsTheSameRunAlthoughItKnowsFewerOptions) {
  const TrainConfig config = prepare_run(saved_config()).config;
  EXPECT_EQ(difference_to_saved(kSaved / "v1-run", config), "");
  TrainConfig other = config;
  other.start_checksum = "crc32c:00000000";
  EXPECT_EQ(difference_to_saved(kSaved / "v1-run", other),
            "--start-checksum is \"\" there and \"crc32c:00000000\" here");
}

TEST_F(SavedRun, IsEvaluatedToTheAccuraciesItHadThen) {
  const LoadedRun run = load_run(kSaved / "v1-run", "best", "cpu", "fp32");
  EXPECT_EQ(run.step, 50);
  EXPECT_EQ(run.config.start_from, "");
  EXPECT_EQ(run.config.start_noise, 0);
  const TestSet test = make_test_set(run, {});
  const std::unique_ptr<Scorer> scorer = make_scorer(*run.model, "fp32");
  Progress quiet(Progress::Mode::quiet);
  const SetAccuracy found =
      evaluate(*run.model, *scorer, run.vocabulary, test.tokens, all_examples(test.tokens), test.how, quiet);
  EXPECT_EQ(found.all.count, 40);
  EXPECT_NEAR(static_cast<double>(found.all.correct), 23, 1);
  EXPECT_NEAR(found.all.mean_loss(), 0.1495, 1e-4);
  EXPECT_EQ(TrainedLengths(kSaved / "v1-run", run.config).say(8), "yes");
  EXPECT_EQ(TrainedLengths(kSaved / "v1-run", run.config).say(9), "longer");
}

TEST_F(SavedRun, TrainedAgainGivesItsResultsAndWritesNothing) {
  const fs::path run = copy_of("v1-run");
  const auto before = bytes_of(run);
  const std::vector<SelectionResult> results = run_in(run, saved_config());
  EXPECT_EQ(bytes_of(run), before);
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].step, 50);
  EXPECT_EQ(results[0].validation.all.correct, 21);
  EXPECT_EQ(results[0].longer.correct, 23);
  EXPECT_EQ(results[0].longer.count, 40);
  EXPECT_EQ(results[1].test.by_length.at(16).correct, 4);
  EXPECT_NEAR(results[1].longer.mean_loss(), 0.1292, 5e-5);
}

TEST_F(SavedRun, BegunThenIsFinishedNow) {
  const fs::path run = copy_of("v1-begun");
  const std::vector<SelectionResult> results = run_in(run, saved_config());
  EXPECT_EQ(results.back().step, 100);
  const auto summary = nlohmann::json::parse(read_file(run / "summary.json"));
  EXPECT_TRUE(summary.contains("files"));
  const auto config = nlohmann::json::parse(read_file(run / "config.json"));
  EXPECT_FALSE(config.contains("data_fingerprint")) << "nobody knows what its data were";
  EXPECT_EQ(read_file(run / "metrics.jsonl").substr(0, 2000),
            read_file(kSaved / "v1-run/metrics.jsonl").substr(0, 2000))
      << "the lines before the checkpoint are those it had";
}

}  // namespace
}  // namespace lengthwise
