// Whole runs of recurrent networks: trained, stopped, gone on with, loaded, and answering.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "eval/engines.h"
#include "eval/load_run.h"
#include "eval/test_set.h"
#include "infer/teacher_forcing.h"
#include "tests/core/mistake.h"
#include "tests/eval/small_run.h"

namespace lengthwise {
namespace {

/// Stops before that step.
class StopAt : public Progress {
 public:
  explicit StopAt(std::string text) : Progress(Mode::quiet), text_(std::move(text)) {}
  void update(int64_t, int64_t, const std::string& text) override {
    if (text.find(text_) != std::string::npos) throw Interrupted();
  }

 private:
  std::string text_;
};

TrainConfig recurrent_run(const std::string& architecture) {
  TrainConfig config = small_run("");
  config.model.architecture = architecture;
  config.model.heads = 0;
  config.model.layers = 2;
  config.model.hidden = 24;
  return config;
}

class RecurrentRun : public testing::TestWithParam<std::string> {};

TEST_P(RecurrentRun, EndsInTheSameBitsWhereverItStoppedAndAnswersFromItsFiles) {
  const TrainConfig config = recurrent_run(GetParam());
  const fs::path whole = fresh(GetParam() + "-whole");
  const std::vector<SelectionResult> results = run_in(whole, config);
  const fs::path stopped = fresh(GetParam() + "-stopped");
  for (const char* place : {"step 7/", "step 15/", "evaluating"}) {
    StopAt progress(place);
    EXPECT_THROW(execute_run(prepare_run(config), stopped, progress), Interrupted);
  }
  run_in(stopped, config);
  for (const char* file :
       {"config.json", "metrics.jsonl", "best.safetensors", "last.safetensors", "eval.jsonl", "examples.jsonl"}) {
    EXPECT_TRUE(read_file(whole / file) == read_file(stopped / file)) << file << " differs";
  }
  LoadedRun run = load_run(whole, "best", "cpu");
  EXPECT_EQ(run.config.model.architecture, GetParam());
  EXPECT_EQ(run.config.precision, "fp32");
  TestSet test = make_test_set(run, {});
  const auto scorer = make_scorer(*run.model, "fp32");
  Progress quiet(Progress::Mode::quiet);
  const auto accuracy = [&](Decoding decoding) {
    test.how.decoding = decoding;
    return evaluate(*run.model, *scorer, run.vocabulary, test.tokens, all_examples(test.tokens), test.how, quiet).all;
  };
  EXPECT_EQ(accuracy(Decoding::teacher_forcing).loss, results.front().test.all.loss);
  EXPECT_EQ(accuracy(Decoding::greedy).correct, results.front().test.all.correct);
  EXPECT_NE(mistake_of([&] { load_run(whole, "best", "cpu", "", "rope"); }).find("has no positional encoding"),
            std::string::npos);
  EXPECT_EQ(mistake_of([&] { load_run(whole, "best", "cpu", "bf16"); }),
            "--precision bf16 goes with --architecture decoder; " + GetParam() + " computes in fp32");
}

INSTANTIATE_TEST_SUITE_P(Architectures, RecurrentRun, testing::Values("cwrnn", "rnn", "lstm"));

TEST(RecurrentRun, SaysWhatItIsInItsConfiguration) {
  const fs::path path = fresh("cwrnn-config");
  run_in(path, recurrent_run("cwrnn"));
  const auto json = nlohmann::json::parse(read_file(path / "config.json"));
  EXPECT_EQ(json["encoding_label"], "Clockwork RNN");
  EXPECT_EQ(json["encoding_family"], "recurrent");
  EXPECT_EQ(json["options"]["architecture"], "cwrnn");
  EXPECT_EQ(json["options"]["encoding"], "");
  EXPECT_EQ(json["options"]["periods"], "1,2,4,8,16,32");
  EXPECT_EQ(json["options"]["hidden"], 24);
}

TEST(RecurrentRun, RandomStartsMeanNothingToIt) {
  TrainConfig config = recurrent_run("rnn");
  config.random_offset = 64;
  EXPECT_EQ(mistake_of([&] { run_in(fresh("rnn-offset"), config); }),
            "--random-offset means nothing to the architecture rnn, which does not use absolute positions");
}

TEST(RecurrentRun, Learns) {
  TrainConfig config = recurrent_run("lstm");
  config.model.layers = 1;
  config.model.dropout = 0;
  config.warmup = 0;
  config.lr = 1e-2;
  const auto loss_after = [&](int64_t steps) {
    config.steps = config.validate_every = config.checkpoint_every = steps;
    return run_in(fresh("lstm-learns"), config).front().validation.all.mean_loss();
  };
  EXPECT_LT(loss_after(60), 0.7 * loss_after(1));
}

}  // namespace
}  // namespace lengthwise
