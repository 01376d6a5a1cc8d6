// Which sequences analyses pass through a model.
#include "analysis/inputs.h"

#include <gtest/gtest.h>

#include <set>

#include "data/export.h"
#include "tests/core/mistake.h"
#include "tests/core/temporary_folder.h"
#include "tests/eval/small_run.h"

namespace lengthwise {
namespace {

/// A run that is gone with this object.
struct MadeRun {
  explicit MadeRun(const TrainConfig& config) {
    run_in(folder / "run", config);
    subject = std::make_unique<Subject>(load_subject(folder / "run", "last", "cpu"));
  }
  const TemporaryFolder folder;
  std::unique_ptr<Subject> subject;
};

std::vector<int64_t> lengths_of(const AnalysisInputs& inputs, Content content) {
  std::vector<int64_t> lengths;
  for (const InputGroup& group : inputs.groups) {
    if (group.content == content) lengths.push_back(group.length);
  }
  return lengths;
}

using Lengths = std::vector<int64_t>;

TEST(AnalysisInputs, AreOfTheTrainedLengthTwiceAndFourTimesIt) {
  const MadeRun made(small_run("nope"));
  const Subject& subject = *made.subject;
  EXPECT_EQ(subject.name, "run");
  EXPECT_EQ(subject.trained_length, 3);
  const AnalysisInputs inputs = make_inputs(subject, {.lengths = "", .sequences = 5});
  EXPECT_EQ(lengths_of(inputs, Content::task), (Lengths{3, 6, 12}));
  EXPECT_EQ(lengths_of(inputs, Content::exchanged), (Lengths{3, 6, 12}));
  EXPECT_TRUE(inputs.notes.empty());
  EXPECT_EQ(inputs.trained_tokens, inputs.groups.front().longest());
  for (const InputGroup& group : inputs.groups) EXPECT_EQ(group.sequences.size(), 5U);
  EXPECT_EQ(lengths_of(make_inputs(subject, {.lengths = "7,2, 7", .sequences = 2}), Content::task), (Lengths{2, 7}));
}

TEST(AnalysisInputs, WithExchangedContentTellNothingOfPosition) {
  const MadeRun made(small_run("nope"));
  const Subject& subject = *made.subject;
  const AnalysisInputs inputs = make_inputs(subject, {.lengths = "3,12", .sequences = 200});
  ASSERT_EQ(inputs.groups.size(), 4U);
  std::set<int64_t> known;
  for (const InputSequence& sequence : inputs.groups[0].sequences)
    known.insert(sequence.tokens.begin() + 1, sequence.tokens.end());
  for (size_t g = 2; g < 4; ++g) {
    const InputGroup& group = inputs.groups[g];
    std::map<int64_t, int64_t> early, late;
    for (size_t i = 0; i < group.sequences.size(); ++i) {
      const std::vector<int64_t>& tokens = group.sequences[i].tokens;
      const std::vector<int64_t>& original = inputs.groups[g - 2].sequences[i].tokens;
      ASSERT_EQ(tokens.size(), original.size());
      EXPECT_EQ(tokens.front(), Vocabulary::kBos);
      for (size_t t = 1; t < tokens.size(); ++t) {
        EXPECT_GE(tokens[t], Vocabulary::kSpecials);
        EXPECT_TRUE(known.contains(tokens[t])) << tokens[t];
        ++(t < tokens.size() / 2 ? early : late)[tokens[t]];
      }
    }
    // Each token is as frequent in the first half as in the second, but for chance (4 deviations).
    double halves[2] = {0, 0};
    for (const auto& [token, count] : early) halves[0] += static_cast<double>(count);
    for (const auto& [token, count] : late) halves[1] += static_cast<double>(count);
    for (const int64_t token : known) {
      const double a = static_cast<double>(early[token]) / halves[0];
      const double b = static_cast<double>(late[token]) / halves[1];
      const double deviation = std::sqrt((a + b) / 2 * (1 / halves[0] + 1 / halves[1]));
      EXPECT_LE(std::abs(a - b), 4 * deviation + 1e-12) << token;
    }
  }
  // The task's own content does tell it.
  std::set<int64_t> second;
  for (const InputSequence& sequence : inputs.groups[0].sequences) second.insert(sequence.tokens[1]);
  EXPECT_EQ(second.size(), 1U);
}

TEST(AnalysisInputs, AreTheSameForTheSameSeed) {
  const MadeRun made(small_run("nope"));
  const Subject& subject = *made.subject;
  const auto tokens = [&](uint64_t seed) {
    return make_inputs(subject, {.lengths = "3", .sequences = 3, .content = "exchanged", .seed = seed})
        .groups.front()
        .sequences[1]
        .tokens;
  };
  EXPECT_EQ(tokens(1), tokens(1));
  EXPECT_NE(tokens(1), tokens(2));
}

TEST(AnalysisInputs, LeaveOutWhatTheEncodingCannotPlace) {
  TrainConfig config = small_run("learned");
  config.model.encoding_options.max_positions = 24;
  const MadeRun made(config);
  const Subject& subject = *made.subject;
  const AnalysisInputs inputs = make_inputs(subject, {.lengths = "", .sequences = 2, .content = "task"});
  EXPECT_EQ(lengths_of(inputs, Content::task), (Lengths{3, 6}));
  ASSERT_EQ(inputs.notes.size(), 1U);
  EXPECT_NE(inputs.notes[0].find("length 12 was left out: the encoding learned(positions=24) has 24 positions"),
            std::string::npos)
      << inputs.notes[0];
  EXPECT_NE(mistake_of([&] { make_inputs(subject, {.lengths = "3,12", .sequences = 2}); }).find("has 24 positions"),
            std::string::npos);
}

TEST(AnalysisInputs, OfFilesAreTheExamplesThereAre) {
  const TemporaryFolder folder;
  DataConfig data = small_run("nope").data;
  data.test_count = 20;
  export_data(data, folder / "own");
  TrainConfig config = small_run("nope");
  config.data = {};
  config.data.data = (folder / "own").string();
  const MadeRun made(config);
  const Subject& subject = *made.subject;
  EXPECT_EQ(subject.trained_length, 3);
  const AnalysisInputs inputs = make_inputs(subject, {.lengths = "", .sequences = 4, .content = "task"});
  EXPECT_EQ(lengths_of(inputs, Content::task), (Lengths{3, 5}));
  EXPECT_EQ(inputs.notes.size(), 2U);
  EXPECT_NE(
      mistake_of([&] { make_inputs(subject, {.lengths = "9"}); }).find("no validation or test example of length 9"),
      std::string::npos);
}

TEST(AnalysisInputs, WorkForEveryTask) {
  for (const char* task : {"copy", "addition", "scan", "lego"}) {
    TrainConfig config = small_run("nope");
    config.data = {};
    config.data.task = task;
    config.data.train_count = 200;
    config.data.validation_count = 20;
    config.data.test_count = 400;
    config.steps = 2;
    const MadeRun made(config);
    const Subject& subject = *made.subject;
    const AnalysisInputs inputs = make_inputs(subject, {.lengths = "", .sequences = 6});
    EXPECT_GE(inputs.groups.size(), 4U) << task;
    for (const InputGroup& group : inputs.groups) EXPECT_GE(group.sequences.size(), 1U) << task;
  }
}

TEST(AnalysisInputs, SayWhatIsWrong) {
  const MadeRun made(small_run("nope"));
  const Subject& subject = *made.subject;
  const auto mistake = [&](InputOptions options) { return mistake_of([&] { make_inputs(subject, options); }); };
  EXPECT_EQ(mistake({.lengths = "3,x"}), "--lengths must be lengths with commas between them, as 20,40,80, not '3,x'");
  EXPECT_EQ(mistake({.lengths = "3:6"}), "--lengths must be lengths with commas between them, as 20,40,80, not '3:6'");
  EXPECT_EQ(mistake({.lengths = "", .content = "none"}), "--content must be task, exchanged or both, not 'none'");
  EXPECT_EQ(mistake({.lengths = "", .sequences = 0}), "--sequences must be between 1 and 100000, not 0");
}

}  // namespace
}  // namespace lengthwise
