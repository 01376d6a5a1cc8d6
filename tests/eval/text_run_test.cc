// A run on text is a run: it learns, stops and goes on, and its results can be read.
#include <gtest/gtest.h>

#include "core/json.h"
#include "eval/load_run.h"
#include "eval/text_results.h"
#include "tests/core/mistake.h"
#include "tests/eval/small_run.h"
#include "tests/text/made_text.h"
#include "train/checkpoint.h"
#include "train/step_inputs.h"

namespace lengthwise {
namespace {

/// Words that a model can learn to spell in a few steps.
std::string words(size_t size, uint32_t seed) {
  constexpr const char* kWords[] = {"whale ", "ship ", "harpoon ", "sea "};
  std::string text;
  while (text.size() < size) {
    seed = 1664525u * seed + 1013904223u;
    text += kWords[(seed >> 16) % 4];
  }
  return text;
}

class TextRun : public testing::Test {
 protected:
  TrainConfig config(const std::string& encoding = "rope") {
    TrainConfig config = small_run(encoding);
    config.data = {};
    config.data.text = make_text(folder_, "text-" + std::to_string(++made_), {words(6000, 1), words(3000, 2)},
                                 {words(900, 3)}, {words(700, 4), words(300, 5)})
                           .string();
    config.data.context = 24;
    config.steps = 60;
    config.lr = 1e-2;
    config.validate_every = 20;
    config.validation_portion = 1;
    config.model.dropout = 0;
    return config;
  }

  TemporaryFolder folder_;
  int made_ = 0;
};

TEST_F(TextRun, LearnsAndKeepsPerplexityByContext) {
  const fs::path path = fresh("text");
  const std::vector<SelectionResult> results = run_in(path, config());
  const SelectionResult& best = results.front();
  EXPECT_LT(best.validation.all.mean_loss(), 2.0) << "log 259 = 5.6 is what a model begins with";
  EXPECT_EQ(best.validation.all.count, std::ssize(words(900, 3)) + 1);
  ASSERT_EQ(best.test.by_length.size(), 3u);
  for (const int64_t context : {24, 48, 96}) {
    EXPECT_EQ(best.test.by_length.at(context).count, std::ssize(words(700, 4)) + std::ssize(words(300, 5)) + 2);
  }
  EXPECT_EQ(best.longer.count, 2 * best.test.by_length.at(24).count);
  const Json json = parse_json(read_file(path / "perplexity.json"), "test");
  const Json& row = json["rows"][0];
  EXPECT_EQ(row["window"], 24);
  EXPECT_EQ(row["trained_context"], 24);
  EXPECT_NEAR(row["nats"].get<double>(), best.test.by_length.at(24).loss, 1e-9);
  // The loss chose the best weights.
  double least = 1e9;
  int64_t least_step = -1;
  std::istringstream lines(read_file(path / "metrics.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    const Json point = parse_json(line, "test");
    if (!point.contains("validation_loss") || point["validation_loss"].get<double>() >= least) continue;
    least = point["validation_loss"].get<double>();
    least_step = point["step"].get<int64_t>();
  }
  EXPECT_EQ(best.step, least_step);
  // A finished run shows what it has.
  Progress quiet(Progress::Mode::quiet);
  EXPECT_EQ(run_in(path, read_run_config(path)).front().test.by_length.at(48).correct,
            best.test.by_length.at(48).correct);
}

/// Stops after so many steps.
class StopAfter : public Progress {
 public:
  explicit StopAfter(int64_t step) : Progress(Mode::quiet), step_(step) {}
  void update(int64_t done, int64_t, const std::string& text) override {
    if (text.starts_with("step ") && done == step_) throw Interrupted();
  }

 private:
  int64_t step_;
};

TEST_F(TextRun, GoesOnInTheSameBits) {
  const TrainConfig own = config("alibi");
  const fs::path whole = fresh("text-whole");
  run_in(whole, own);
  const fs::path path = fresh("text-stopped");
  for (const int64_t step : {7, 41}) {
    StopAfter stop(step);
    EXPECT_THROW(execute_run(prepare_run(own), path, stop), Interrupted);
  }
  run_in(path, own);
  for (const char* name : {"best.safetensors", "last.safetensors", "metrics.jsonl", "eval.jsonl", "perplexity.json"})
    EXPECT_EQ(read_file(path / name), read_file(whole / name)) << name;
}

TEST_F(TextRun, InPartsIsTheWholeBatch) {
  TrainConfig own = config("t5");
  own.steps = 10;
  const fs::path whole = fresh("text-one-part");
  run_in(whole, own);
  own.accumulate = 5;
  const fs::path parts = fresh("text-parts");
  run_in(parts, own);
  const auto losses = [](const fs::path& path) {
    std::vector<double> found;
    std::istringstream lines(read_file(path / "metrics.jsonl"));
    for (std::string line; std::getline(lines, line);) {
      const Json point = parse_json(line, "test");
      if (point.contains("loss")) found.push_back(point["loss"].get<double>());
    }
    return found;
  };
  const std::vector<double> one = losses(whole), five = losses(parts);
  ASSERT_EQ(one.size(), 10u);
  for (size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(one[i], five[i], 2e-4 * one[i]) << i;
  // Every part draws its own dropout, and the first that of an undivided batch.
  own.model.dropout = 0.1;
  const PreparedRun prepared = prepare_run(own);
  const Placing none;
  StepInputs inputs(prepared.config, prepared.data->train, none);
  EXPECT_NE(inputs.dropout(3, 0).seed, inputs.dropout(3, 1).seed);
  int64_t targets = 0;
  for (int64_t part = 0; part < 5; ++part) targets += inputs.batch(3, part).target_count();
  EXPECT_EQ(targets, inputs.target_count(3));
}

TEST_F(TextRun, WhatCannotBeIsRefusedBeforeAnyWork) {
  const auto mistake = [&](const std::function<void(TrainConfig&)>& change) {
    TrainConfig changed = config();
    change(changed);
    const fs::path path = fresh("text-refused");
    const std::string said = mistake_of([&] { run_in(path, changed); });
    EXPECT_FALSE(is_there(path / "metrics.jsonl"));
    return said;
  };
  EXPECT_EQ(mistake([](TrainConfig& c) { c.model.encoding = "abacus"; }),
            "the encoding abacus places tokens by the problems of a task, and text has none");
  EXPECT_EQ(mistake([](TrainConfig& c) { c.model.encoding = "learned(positions=64)"; }),
            "the encoding learned(positions=64) has 64 positions, but a context of 96 is asked for; raise "
            "--max-positions or shorten "
            "--context and --contexts");
  EXPECT_NE(mistake([&](TrainConfig& c) {
              c.data.text = make_text(folder_, "no-validation", {words(500, 1)}, {}, {}).string();
            }).find("no text for validation"),
            std::string::npos);
  EXPECT_NE(mistake([&](TrainConfig& c) {
              remove_path(fs::path(c.data.text) / "train-00000.tokens");
            }).find("train-00000.tokens is missing"),
            std::string::npos);
  EXPECT_EQ(mistake([](TrainConfig& c) { c.accumulate = 17; }),
            "--accumulate must be between 1 and --batch-size, not 17");
}

TEST_F(TextRun, IsMeasuredWithItsOwnTokenizer) {
  TrainConfig own = config();
  own.steps = 2;
  const fs::path path = fresh("text-measured");
  run_in(path, own);
  const LoadedRun run = load_run(path, "best", "cpu");
  const PreparedText text = open_text(own.data.text);
  const auto mistake = [&](const PreparedText& other, const ContextOptions& options) {
    return mistake_of([&] { check_contexts(run, other, options, "there"); });
  };
  EXPECT_EQ(mistake(text, {.contexts = {24, 48}, .stride = 24}), "");
  EXPECT_EQ(mistake(text, {.contexts = {24, 48}, .stride = 25}),
            "--stride must be between 1 and the least of --contexts, 24, not 25");
  PreparedText other = text;
  other.manifest.tokenizer = "sentencepiece";
  EXPECT_EQ(mistake(other, {.contexts = {24}}),
            "the tokenizer of there (sentencepiece, 259 tokens) is not the one that the run was trained with (259 "
            "tokens)");
}

}  // namespace
}  // namespace lengthwise
