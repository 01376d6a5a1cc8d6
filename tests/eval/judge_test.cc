// What counts as right: whole targets or answers, and that answers are the same however they are found.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files.h"
#include "eval/engines.h"
#include "eval/load_run.h"
#include "tasks/registry.h"
#include "tests/eval/small_run.h"
#include "train/trainer.h"

namespace lengthwise {
namespace {

/// A run of a task whose scores and generated answers are rounded alike.
TrainConfig run_of(const std::string& task, const std::string& scratchpad) {
  TrainConfig config = small_run("nope");
  config.data.task = task;
  from_text(scratchpad, config.data.scratchpad);
  config.data.train_lengths = LengthRange{2, 3};
  config.data.test_lengths = LengthRange{2, 4};
  config.precision = "fp32";
  config.steps = 300;
  config.validate_every = 300;
  return config;
}

/// Scores and generates with one trained model in different ways.
class Judge {
 public:
  Judge(const std::string& folder, const TrainConfig& config)
      : run_(prepare_run(config)),
        options_(default_evaluation(run_.resolved)),
        decoder_(run_.config.model, static_cast<uint64_t>(run_.config.seed)),
        scorer_(make_scorer(decoder_, run_.config.precision)) {
    options_.max_total_tokens = 160;  // more than any target has; a model of a few steps seldom ends by itself
    Progress quiet(Progress::Mode::quiet);
    train(run_.config, *run_.data, decoder_, RunFolder::open(fresh(folder), run_.config), quiet);
  }

  Judgement judge(Decoding decoding) {
    options_.decoding = decoding;
    Progress quiet(Progress::Mode::quiet);
    const TokenSet& test = run_.data->test;
    return lengthwise::judge(decoder_, *scorer_, run_.data->vocabulary, test, all_examples(test), options_, quiet);
  }

 private:
  PreparedRun run_;
  EvaluationOptions options_;
  Decoder decoder_;
  std::unique_ptr<Scorer> scorer_;
};

struct Problem {
  const char* task;
  const char* scratchpad;
};

std::ostream& operator<<(std::ostream& to, const Problem& problem) {
  return to << problem.task << " with scratchpad " << problem.scratchpad;
}

class GreedyWhereNeeded : public testing::TestWithParam<Problem> {};

TEST_P(GreedyWhereNeeded, FindsWhatGreedyFinds) {
  const auto [task, scratchpad] = GetParam();
  Judge judge(fmt::format("judge-{}-{}", task, scratchpad), run_of(task, scratchpad));
  const Judgement exact = judge.judge(Decoding::teacher_forcing);
  const Judgement needed = judge.judge(Decoding::greedy_where_needed);
  const Judgement greedy = judge.judge(Decoding::greedy);
  EXPECT_EQ(needed.right, greedy.right);
  for (size_t i = 0; i < exact.right.size(); ++i) {
    EXPECT_EQ(exact.right[i], exact.scores[i].exact);
    EXPECT_TRUE(needed.right[i] || !exact.right[i]) << "an exact target has the right answer";
    EXPECT_EQ(needed.scores[i].loss, exact.scores[i].loss);
  }
  // Between two answers even a guess is right now and then, so that something is compared.
  if (find_task(task).info().answer == AnswerKind::statement) {
    EXPECT_GT(std::count(needed.right.begin(), needed.right.end(), true), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Tasks, GreedyWhereNeeded,
                         testing::Values(Problem{"addition", "none"}, Problem{"polynomial", "none"},
                                         Problem{"summation", "none"}, Problem{"parity", "none"},
                                         Problem{"lego", "none"}, Problem{"sort", "none"},
                                         Problem{"sort-multi", "none"}, Problem{"parity", "full"},
                                         Problem{"summation", "minimal"}, Problem{"copy-rsc", "none"}),
                         [](const auto& instance) {
                           std::string name = std::string(instance.param.task) + "_" + instance.param.scratchpad;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

/// The set with `junk` behind every target.
TokenSet with_junk(const TokenSet& set, const std::vector<int32_t>& junk) {
  TokenSet longer = set;
  longer.tokens.clear();
  longer.offsets = {0};
  for (int64_t i = 0; i < set.size(); ++i) {
    const std::span<const int32_t> sequence = set.sequence(i);
    longer.tokens.insert(longer.tokens.end(), sequence.begin(), sequence.end() - 1);
    longer.tokens.insert(longer.tokens.end(), junk.begin(), junk.end());
    longer.tokens.push_back(Vocabulary::kEos);
    longer.offsets.push_back(static_cast<int64_t>(longer.tokens.size()));
  }
  return longer;
}

TEST(Judge, JunkAfterARightAnswerDoesNoHarm) {
  TrainConfig config = run_of("parity", "none");
  config.data.test_lengths = LengthRange{2, 2};
  config.steps = 400;
  config.model.dropout = 0;
  const auto data = std::make_shared<DataSet>(build_data_set(config.data));
  data->train = with_junk(data->train, data->vocabulary.encode("No Yes"));
  Progress quiet(Progress::Mode::quiet);
  const fs::path path = fresh("judge-junk");
  const PreparedRun run = prepare_run(config, data);
  const SelectionResult last = execute_run(run, path, quiet).back();
  EXPECT_GT(last.test.all.count, 0);
  EXPECT_EQ(last.test.all.correct, last.test.all.count);
  EXPECT_EQ(last.validation.all.correct, last.validation.all.count);
  // Weights are still selected by whole targets, of which none is exact.
  EXPECT_NE(read_file(path / "metrics.jsonl").find("\"validation_exact_match\":0.0"), std::string::npos);
  LoadedRun loaded = load_run(path, "last", "cpu");
  const std::unique_ptr<Scorer> scorer = make_scorer(*loaded.model, "fp32");
  EvaluationOptions options = default_evaluation(run.resolved);
  options.decoding = Decoding::teacher_forcing;
  EXPECT_EQ(evaluate(*loaded.model, *scorer, loaded.vocabulary, data->test, all_examples(data->test), options, quiet)
                .all.correct,
            0);
}

TEST(Judge, ComparesAnswersOrWholeTargets) {
  TrainConfig config = run_of("summation", "none");
  const DataSet data = build_data_set(config.data);
  const std::span<const int32_t> target = data.test.target(0);
  const auto changed = [&](const std::string& before, const std::string& after) {
    std::vector<int32_t> tokens = data.vocabulary.encode(before);
    tokens.insert(tokens.end(), target.begin(), target.end() - 1);
    const std::vector<int32_t> rest = data.vocabulary.encode(after);
    tokens.insert(tokens.end(), rest.begin(), rest.end());
    return tokens;
  };
  EvaluationOptions answers = default_evaluation(resolve(config.data));
  EvaluationOptions targets;
  const auto right = [&](const std::vector<int32_t>& tokens, const EvaluationOptions& options) {
    return is_right(data.vocabulary, data.test, 0, tokens, options);
  };
  EXPECT_TRUE(right(changed("", ""), answers));
  EXPECT_TRUE(right(changed("", ""), targets));
  for (const auto& tokens : {changed("The answer is 7.", ""), changed("", "Compute 3")}) {
    EXPECT_TRUE(right(tokens, answers));
    EXPECT_FALSE(right(tokens, targets));
  }
  EXPECT_FALSE(right({}, answers));
  EXPECT_FALSE(right({}, targets));
}

TEST(Judge, FollowsTheTask) {
  for (const auto& task : tasks()) {
    ResolvedData data;
    data.task = task.get();
    const EvaluationOptions options = default_evaluation(data);
    const bool whole = task->info().answer == AnswerKind::whole;
    EXPECT_EQ(options.decoding, whole ? Decoding::teacher_forcing : Decoding::greedy_where_needed) << task->info().name;
    EXPECT_EQ(options.task, whole ? nullptr : task.get());
    EXPECT_EQ(options.max_total_tokens, 256);
    EXPECT_TRUE(task->info().paper.empty() || whole == (task->info().group != "reasoning")) << task->info().name;
    from_text("minimal", data.style.scratchpad);
    EXPECT_EQ(default_evaluation(data).task, task.get());
    EXPECT_EQ(default_evaluation(data).max_total_tokens, 1500);
  }
  EXPECT_EQ(default_evaluation(ResolvedData{}).decoding, Decoding::teacher_forcing) << "the user's own data";
  EXPECT_EQ(default_evaluation(ResolvedData{}).task, nullptr);
}

TEST(Decodings, HaveNames) {
  for (const char* name : {"teacher-forcing", "greedy-where-needed", "greedy"}) {
    Decoding decoding{};
    from_text(name, decoding);
    EXPECT_EQ(to_text(decoding), name);
  }
  try {
    Decoding decoding{};
    from_text("gredy", decoding);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(),
                 "'gredy' is not a way to decode; there are teacher-forcing, greedy-where-needed, greedy; did you mean "
                 "'greedy'?");
  }
}

}  // namespace
}  // namespace lengthwise
