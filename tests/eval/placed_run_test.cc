// Mixtures by layer, and positions by rule: trained, interrupted, evaluated, loaded and let write, from files alone.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "eval/engines.h"
#include "eval/load_run.h"
#include "eval/test_set.h"
#include "tests/eval/small_run.h"

namespace lengthwise {
namespace {

/// Stops in a step of training.
class StopIn : public Progress {
 public:
  explicit StopIn(std::string text) : Progress(Mode::quiet), text_(std::move(text)) {}
  void update(int64_t, int64_t, const std::string& text) override {
    if (text.find(text_) != std::string::npos) throw Interrupted();
  }

 private:
  std::string text_;
};

TrainConfig small(const std::string& encoding, const std::string& task) {
  TrainConfig config = small_run(encoding);
  config.data.task = task;
  config.data.validation_count = 60;
  config.model.layers = 4;
  config.steps = 12;
  config.device = "cpu";
  config.threads = 1;
  config.precision = "fp32";
  return config;
}

struct Named {
  const char *encoding, *task;
};

class SavedEncoding : public testing::TestWithParam<Named> {};

TEST_P(SavedEncoding, TrainsResumesEvaluatesGeneratesAndLoads) {
  const auto [encoding, task] = GetParam();
  const TrainConfig config = small(encoding, task);
  const fs::path whole = fresh("whole"), stopped = fresh("stopped");
  const std::vector<SelectionResult> results = run_in(whole, config);
  const PreparedRun prepared = prepare_run(config);
  for (const char* where : {"step 3/", "step 7/", "evaluating"}) {
    StopIn progress(where);
    EXPECT_THROW(execute_run(prepared, stopped, progress), Interrupted) << where;
  }
  run_in(stopped, config);
  for (const char* file :
       {"config.json", "metrics.jsonl", "best.safetensors", "last.safetensors", "eval.jsonl", "examples.jsonl"}) {
    EXPECT_TRUE(read_file(whole / file) == read_file(stopped / file)) << file << " differs";
  }
  // From the files alone: the same accuracies, and the same answers as were written down.
  LoadedRun run = load_run(whole, "best", "cpu");
  const TestSet test = make_test_set(run, {});
  const auto scorer = make_scorer(*run.model, "fp32");
  Progress quiet(Progress::Mode::quiet);
  const SetAccuracy again =
      evaluate(*run.model, *scorer, run.vocabulary, test.tokens, all_examples(test.tokens), test.how, quiet);
  ASSERT_FALSE(results.empty());
  EXPECT_EQ(again.all.correct, results.front().test.all.correct);
  EXPECT_EQ(again.all.loss, results.front().test.all.loss);
  std::istringstream lines(read_file(whole / "examples.jsonl"));
  int64_t answers = 0;
  for (std::string line; std::getline(lines, line); ++answers) {
    const auto example = nlohmann::json::parse(line);
    std::vector<int32_t> prompt{Vocabulary::kBos};
    run.vocabulary.encode(example["prompt"].get<std::string>(), prompt);
    prompt.push_back(Vocabulary::kSep);
    const auto written = generate_answers(*run.model, {prompt}, {.max_total_tokens = 128});
    const std::string text = run.vocabulary.decode(written.front());
    const std::string kept = example["answer"].get<std::string>();
    EXPECT_TRUE(text.starts_with(kept) || kept.starts_with(text)) << text << " and " << kept;
  }
  EXPECT_GT(answers, 3);
}

INSTANTIATE_TEST_SUITE_P(Texts, SavedEncoding,
                         testing::Values(Named{"layers(t5,t5)", "copy"}, Named{"layers(rope,t5,nope,alibi)", "copy"},
                                         Named{"randomized(fire)", "copy"}, Named{"randomized(rope)", "copy"},
                                         Named{"randomized(t5)", "sort"}, Named{"random-float(alibi)", "copy"},
                                         Named{"abacus+rope", "addition-reversed"},
                                         Named{"coupled(learned)", "addition-reversed"}, Named{"log-n", "copy"}),
                         [](const auto& instance) {
                           std::string name = instance.param.encoding;
                           std::ranges::replace_if(
                               name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
                           return name;
                         });

nlohmann::json saved_config(const fs::path& run) {
  return nlohmann::json::parse(read_file(run / "config.json"));
}

TEST(TrainedLength, IsThatOfTheDataAndStays) {
  const TrainConfig config = small("log-n", "copy");
  const PreparedRun prepared = prepare_run(config);
  int64_t longest = 0;
  for (int64_t i = 0; i < prepared.data->train.size(); ++i)
    longest = std::max(longest, std::ssize(prepared.data->train.sequence(i)) - 1);
  EXPECT_EQ(prepared.config.model.trained_length, longest);
  EXPECT_EQ(prepared.config.model.trained_room, 2);
  const fs::path path = fresh("trained-length");
  run_in(path, config);
  EXPECT_EQ(saved_config(path)["trained"]["tokens"], longest);
  EXPECT_EQ(load_run(path, "best", "cpu").config.model.trained_length, longest);
}

// The run was begun by a version that told encodings nothing: it goes on so.
TEST(TrainedLength, OfEarlierRunsStaysUnknown) {
  const TrainConfig config = small("log-n", "copy");
  const auto without = [&](PreparedRun run) {
    run.config.model.trained_length = run.config.model.trained_room = 0;
    return run;
  };
  const fs::path old = fresh("old"), resumed = fresh("resumed"), told = fresh("told");
  Progress quiet(Progress::Mode::quiet);
  execute_run(without(prepare_run(config)), old, quiet);
  EXPECT_FALSE(saved_config(old).contains("trained"));
  StopIn progress("step 7/");
  EXPECT_THROW(execute_run(without(prepare_run(config)), resumed, progress), Interrupted);
  run_in(resumed, config);
  EXPECT_TRUE(read_file(old / "last.safetensors") == read_file(resumed / "last.safetensors"));
  EXPECT_FALSE(saved_config(resumed).contains("trained"));
  EXPECT_EQ(load_run(resumed, "last", "cpu").config.model.trained_length, 0);
  run_in(told, config);
  EXPECT_FALSE(read_file(old / "last.safetensors") == read_file(told / "last.safetensors"));
  // Finished, it is the same run.
  EXPECT_NO_THROW(run_in(old, config));
}

TEST(CoupledRun, IsRefusedBeforeAnythingIsWritten) {
  const fs::path path = fresh("coupled");
  try {
    run_in(path, small("coupled(learned)", "sort"));
    ADD_FAILURE() << "was not refused";
  } catch (const UserError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("the encoding coupled(learned): the task sort does not say"))
        << error.what();
  }
  EXPECT_FALSE(fs::exists(path));
}

}  // namespace
}  // namespace lengthwise
