// Stopped anywhere, gone on with in the same bits; and nothing that is not finite is ever on disk.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files.h"
#include "model/decoder.h"
#include "tests/eval/small_run.h"
#include "train/checkpoint.h"
#include "train/trainer.h"

namespace lengthwise {
namespace {

/// Stops the n-th time that such a text is shown.
class StopAt : public Progress {
 public:
  StopAt(std::string text, int times) : Progress(Mode::quiet), text_(std::move(text)), left_(times) {}

  void update(int64_t, int64_t, const std::string& text) override {
    if (text.find(text_) != std::string::npos && --left_ == 0) throw Interrupted();
  }

 private:
  std::string text_;
  int left_;
};

std::map<std::string, std::string> results_of(const fs::path& path) {
  std::map<std::string, std::string> files;
  for (const char* name : {"config.json", "metrics.jsonl", "best.safetensors", "last.safetensors", "eval.jsonl",
                           "examples.jsonl", "summary.json"}) {
    files[name] = read_file(path / name);
  }
  return files;
}

TEST(InterruptedRun, EndsInTheSameBitsWhereverItStopped) {
  TrainConfig config = small_run("t5");
  config.watch_longer = 8;
  const fs::path whole = fresh("not-stopped");
  run_in(whole, config);
  const PreparedRun prepared = prepare_run(config);
  const fs::path path = fresh("often-stopped");
  int stops = 0;
  for (const auto& [text, times] : std::vector<std::pair<std::string, int>>{{"step 3/", 1},
                                                                            {"scoring the validation set", 1},
                                                                            {"scoring the validation set", 1},
                                                                            {"scoring the test set", 1},
                                                                            {"step 11/", 1},
                                                                            {"scoring the test set", 3},
                                                                            {"evaluating", 2}}) {
    StopAt progress(text, times);
    try {
      execute_run(prepared, path, progress);
    } catch (const Interrupted&) {
      ++stops;
    }
  }
  EXPECT_EQ(stops, 7);
  EXPECT_FALSE(fs::exists(path / "summary.json"));
  run_in(path, config);
  const auto expected = results_of(whole);
  for (const auto& [name, bytes] : results_of(path)) EXPECT_TRUE(bytes == expected.at(name)) << name << " differs";
}

/// A learner whose weights become infinite in some step, of whose loss nothing shows.
class Spoiling : public Learner {
 public:
  Spoiling(std::unique_ptr<Learner> learner, Model& decoder, TrainState& state, int64_t at, bool moments)
      : learner_(std::move(learner)), decoder_(decoder), state_(state), at_(at), moments_(moments) {}

  int64_t step(int64_t step) override {
    const int64_t tokens = learner_->step(step);
    if (step + 1 == at_) {
      at::Tensor values = moments_ ? state_.second : decoder_.parameters().values();
      values.select(0, 0).fill_(std::numeric_limits<float>::infinity());
    }
    return tokens;
  }
  StepMetrics metrics() override { return learner_->metrics(); }
  bool runs_ahead() const override { return learner_->runs_ahead(); }
  Scorer& scorer() override { return learner_->scorer(); }

 private:
  std::unique_ptr<Learner> learner_;
  Model& decoder_;
  TrainState& state_;
  int64_t at_;
  bool moments_;
};

TEST(InfiniteWeights, AreNeverWritten) {
  for (const bool moments : {false, true}) {
    const PreparedRun run = prepare_run(small_run("nope"));
    const fs::path path = fresh("infinite");
    const RunFolder folder = RunFolder::open(path, run.config);
    Decoder decoder(run.config.model, 1);
    Progress quiet(Progress::Mode::quiet);
    std::string message;
    try {
      train(run.config, *run.data, decoder, folder, quiet, nullptr,
            [&](const TrainConfig& config, const TokenSet& set, Model& model, TrainState& state) {
              return std::make_unique<Spoiling>(make_cpu_learner(config, set, model, state), model, state, 24, moments);
            });
    } catch (const UserError& error) {
      message = error.what();
    }
    EXPECT_NE(message.find("no longer finite at step 24"), std::string::npos) << message;
    EXPECT_NE(message.find("the last good state is"), std::string::npos) << message;
    EXPECT_FALSE(fs::exists(path / "last.safetensors"));
    Decoder again(run.config.model, 1);
    EXPECT_EQ(read_state(path / "state.safetensors", again.parameters()).step, 20);
    EXPECT_LT(read_weights(path / "best.safetensors", again.parameters()), 24);
  }
}

TEST(InfiniteWeights, AreNotReadEither) {
  const PreparedRun run = prepare_run(small_run("nope"));
  Decoder decoder(run.config.model, 1);
  const fs::path path = fresh("infinite-file");
  make_folder(path);
  decoder.parameters().values().select(0, 5).fill_(std::numeric_limits<float>::quiet_NaN());
  write_weights(path / "bad.safetensors", decoder.parameters(), 3);
  try {
    read_weights(path / "bad.safetensors", decoder.parameters());
    FAIL() << "it was read";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("finite"), std::string::npos) << error.what();
  }
}

TEST(RefusedRun, DoesNotStandInTheWayOfTheCorrectedOne) {
  const fs::path path = fresh("refused");
  TrainConfig wrong = small_run("nope");
  wrong.data.validation_count = 0;
  EXPECT_THROW(run_in(path, wrong), UserError);
  EXPECT_FALSE(fs::exists(path));
  // Something that fails only once the folder is open, as memory that runs out on a device does.
  {
    const PreparedRun run = prepare_run(small_run("t5"));
    const RunFolder folder = RunFolder::open(path, run.config);
    Decoder decoder(run.config.model, 1);
    Progress quiet(Progress::Mode::quiet);
    EXPECT_THROW(train(run.config, *run.data, decoder, folder, quiet, nullptr,
                       [](const TrainConfig&, const TokenSet&, Model&, TrainState&) -> std::unique_ptr<Learner> {
                         fail("no memory");
                       }),
                 UserError);
  }
  EXPECT_EQ(run_in(path, small_run("nope")).back().step, 24);
  EXPECT_EQ(read_run_config(path).model.encoding, "nope");
}

}  // namespace
}  // namespace lengthwise
