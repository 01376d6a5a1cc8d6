// What a run measures beside the rest: the numbers are those that `eval` gives for the same question.
#include "eval/more_measures.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/json.h"
#include "eval/engines.h"
#include "eval/load_run.h"
#include "eval/text_results.h"
#include "model/decoder.h"
#include "results/evaluation_file.h"
#include "results/load_results.h"
#include "results/perplexity_file.h"
#include "tests/core/mistake.h"
#include "tests/eval/small_run.h"
#include "tests/text/made_text.h"

namespace lengthwise {
namespace {

class MoreMeasures : public testing::Test {
 protected:
  TrainConfig config(const std::string& encoding) {
    TrainConfig config = small_run(encoding);
    config.data = {};
    config.data.text = text_.string();
    config.data.context = 16;
    config.data.contexts = "16,48";
    config.steps = 6;
    config.model.head_dim = 16;
    return config;
  }
  std::string mistake(const TrainConfig& config) {
    const fs::path path = fresh("measures-refused");
    const std::string said = mistake_of([&] { run_in(path, config); });
    EXPECT_FALSE(is_there(path / "metrics.jsonl")) << said;
    return said;
  }

  TemporaryFolder folder_;
  fs::path text_ = make_text(folder_, "text", {letters(2000, 1)}, {letters(300, 2)}, {letters(400, 3)});
};

TEST_F(MoreMeasures, AreThoseOfEval) {
  TrainConfig own = config("rope");
  own.stride = 8;
  own.measure_with = "yarn(factor=3), pi(factor=3)";
  const fs::path path = fresh("measures");
  run_in(path, own);
  const std::vector<ContextRow> rows = read_perplexity(path, "best", own.steps);
  ASSERT_EQ(rows.size(), 3u * 2 * 2) << "three encodings, two protocols, two contexts";
  EXPECT_EQ(read_perplexity(path, "last", own.steps).size() % 2, 0u);
  const PreparedText text = open_text(text_);
  for (const ContextRow& row : rows) {
    const LoadedRun run = load_run(path, "best", "cpu", "", row.encoding == own.model.encoding ? "" : row.encoding);
    const std::unique_ptr<Scorer> scorer = make_scorer(*run.model, run.config.precision);
    const ContextScore score =
        score_context(*scorer, text.stream(TextSplit::test), {.context = row.window, .stride = row.stride},
                      bytes_of_tokens(run.vocabulary));
    EXPECT_EQ(score.sum.tokens, row.tokens);
    EXPECT_NEAR(score.sum.nats, row.nats, 1e-9 * row.nats) << row.encoding << " " << row.window << " " << row.stride;
    EXPECT_EQ(row.encoding_label, as_decoder(*run.model)->encoding_info().label);
  }
  EXPECT_NE(rows[0].nats, rows[4].nats) << "another encoding reads otherwise";
}

// What learns keeps its weights under a mask, and a mask as wide as the longest window changes nothing.
TEST_F(MoreMeasures, MayLayAMaskOverWhatLearns) {
  for (const std::string encoding : {"t5", "fox", "layers(kerple-log,nope)"}) {
    SCOPED_TRACE(encoding);
    TrainConfig own = config(encoding);
    own.model.layers = 2;
    own.measure_with = encoding + "+window(size=48)," + encoding + "+window(size=4)";
    const fs::path path = fresh("measures-masked");
    run_in(path, own);
    const std::vector<ContextRow> rows = read_perplexity(path, "best", own.steps);
    ASSERT_EQ(rows.size(), 3u * 2) << "three encodings, two contexts";
    for (size_t i = 0; i < 2; ++i) {
      EXPECT_NEAR(rows[2 + i].nats, rows[i].nats, 1e-6 * rows[i].nats);
      EXPECT_GT(std::abs(rows[4 + i].nats - rows[i].nats), 1e-6 * rows[i].nats);
    }
    const LoadedRun run = load_run(path, "best", "cpu", "", rows[4].encoding);
    const std::unique_ptr<Scorer> scorer = make_scorer(*run.model, run.config.precision);
    const PreparedText text = open_text(text_);
    const ContextScore score =
        score_context(*scorer, text.stream(TextSplit::test), {.context = rows[4].window, .stride = rows[4].stride},
                      bytes_of_tokens(run.vocabulary));
    EXPECT_NEAR(score.sum.nats, rows[4].nats, 1e-9 * rows[4].nats) << "as `eval --encoding` has it";
  }
}

TEST_F(MoreMeasures, DecideNothing) {
  EXPECT_FALSE(decides_result("stride"));
  EXPECT_FALSE(decides_result("measure-with"));
  const fs::path plain = fresh("measures-plain");
  run_in(plain, config("rope"));
  TrainConfig own = config("rope");
  own.stride = 8;
  own.measure_with = "yarn(factor=3)";
  const fs::path more = fresh("measures-more");
  run_in(more, own);
  for (const char* name : {"best.safetensors", "metrics.jsonl", "eval.jsonl"})
    EXPECT_EQ(read_file(plain / name), read_file(more / name)) << name;
}

TEST_F(MoreMeasures, WhatCannotBeIsRefusedBeforeAnyWork) {
  const auto refused = [&](const std::string& encodings, int64_t stride = 0) {
    TrainConfig own = config("rope");
    own.measure_with = encodings;
    own.stride = stride;
    return mistake(own);
  };
  EXPECT_EQ(refused("", 17), "--stride must be between 1 and the least of --contexts, 16, not 17");
  EXPECT_NE(refused("yarm(factor=2)").find("yarn"), std::string::npos) << "the nearest name";
  EXPECT_EQ(refused("t5"),
            "--measure-with t5: it needs the weights 'encoding.relative_bias', which a run with rope does not train");
  EXPECT_NE(refused("pi(factor=2),,nope").find("names no encoding between two commas"), std::string::npos);
  TrainConfig task = small_run("rope");
  task.stride = 4;
  EXPECT_EQ(mistake(task), "--stride goes with --text");
  task.stride = 0;
  task.measure_with = "shaw";
  EXPECT_EQ(
      mistake(task),
      "--measure-with shaw: it needs the weights 'encoding.0.relative_keys', which a run with rope does not train");
  task.measure_with = "randomized(rope,max=8)";
  EXPECT_EQ(mistake(task).substr(0, 81),
            "--measure-with: the encoding randomized(rope,max=8) has 8 positions, but a test e");
}

TEST(ReadingsOfTasks, AreThoseOfEval) {
  TrainConfig config = small_run("rope");
  config.steps = 60;
  const fs::path plain = fresh("readings-plain");
  run_in(plain, config);
  config.measure_with = "yarn(factor=2), nope";
  const fs::path path = fresh("readings");
  const PreparedRun prepared = prepare_run(config);
  run_in(path, config);
  for (const char* name : {"best.safetensors", "metrics.jsonl", "eval.jsonl", "examples.jsonl"})
    EXPECT_EQ(read_file(plain / name), read_file(path / name)) << name << ": readings decide nothing";
  EXPECT_FALSE(is_there(plain / "readings.jsonl"));

  const Results results = load_results(path);
  ASSERT_EQ(results.readings.size(), 2u);
  Progress quiet(Progress::Mode::quiet);
  std::vector<double> losses;
  for (size_t i = 0; i < 2; ++i) {
    const StoredRun& reading = results.readings[i];
    const std::string encoding = i == 0 ? "yarn(factor=2)" : "nope";
    EXPECT_EQ(reading.encoding, "rope read with " + encoding);
    const LoadedRun run = load_run(path, "best", "cpu", "", encoding);
    EXPECT_EQ(reading.label, "RoPE read with " + as_decoder(*run.model)->encoding_info().label);
    const std::unique_ptr<Scorer> scorer = make_scorer(*run.model, run.config.precision);
    const TokenSet& test = prepared.data->test;
    const SetAccuracy there = evaluate(*run.model, *scorer, run.vocabulary, test, all_examples(test),
                                       default_evaluation(prepared.resolved), quiet);
    size_t lengths = 0;
    for (const LengthResult& row : reading.lengths) {
      if (row.counts.validation) continue;
      const Accuracy& expected = there.by_length.at(row.counts.length);
      EXPECT_EQ(row.counts.count, expected.count);
      EXPECT_EQ(row.counts.correct, expected.correct) << encoding << " at " << row.counts.length;
      EXPECT_NEAR(row.counts.loss, expected.mean_loss(), 1e-9) << encoding << " at " << row.counts.length;
      losses.push_back(row.counts.loss);
      ++lengths;
    }
    EXPECT_EQ(lengths, there.by_length.size());
    EXPECT_GT(reading.lengths.size(), lengths) << "validation examples are read as well";
  }
  losses.push_back(results.runs.at(0).lengths.back().counts.loss);
  EXPECT_NE(losses[1], losses[3]) << "another encoding reads otherwise";
  EXPECT_NE(losses[1], losses[4]) << "and otherwise than that of training";
}

TEST(ReadingsOfTasks, BelongToTheResults) {
  TrainConfig config = small_run("rope");
  config.measure_with = "nope";
  const fs::path path = fresh("readings-damaged");
  run_in(path, config);
  const std::string text = read_file(path / "readings.jsonl");
  write_file(path / "readings.jsonl", text.substr(0, text.find('\n') + 1));
  EXPECT_EQ(load_results(path).runs.at(0).state, StoredState::damaged) << "the file is not the run's";
}

TEST(ListedEncodings, AreCutOutsideOfBrackets) {
  EXPECT_EQ(listed_encodings(" drope(rope,scale=0.5) , layers(a,b(c,d)),e"),
            (std::vector<std::string>{"drope(rope,scale=0.5)", "layers(a,b(c,d))", "e"}));
  EXPECT_TRUE(listed_encodings(" ").empty());
}

}  // namespace
}  // namespace lengthwise
