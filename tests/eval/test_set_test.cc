// Which examples `eval` scores.
#include "eval/test_set.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/files.h"
#include "data/export.h"
#include "tests/core/mistake.h"
#include "tests/core/temporary_folder.h"
#include "tests/eval/small_run.h"

namespace lengthwise {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::map<int64_t, int64_t> lengths_of(const TestSet& test) {
  std::map<int64_t, int64_t> counts;
  for (const int32_t length : test.tokens.length) ++counts[length];
  return counts;
}

using Counts = std::map<int64_t, int64_t>;

TEST(TestSet, OfATaskIsDrawnAtAnyLengths) {
  const fs::path path = fresh("drawn-set");
  TrainConfig config = small_run("learned");
  config.model.encoding_options.max_positions = 40;
  run_in(path, config);
  const LoadedRun run = load_run(path, "last", "cpu");
  EXPECT_EQ(lengths_of(make_test_set(run, {})), (Counts{{4, 30}, {5, 30}}));
  EXPECT_EQ(lengths_of(make_test_set(run, {.data = "", .lengths = {}, .count = 3, .data_seed = {}})),
            (Counts{{4, 3}, {5, 3}}));
  EXPECT_EQ(lengths_of(make_test_set(run, {.data = "", .lengths = LengthRange{2, 4}, .count = 7, .data_seed = 3})),
            (Counts{{2, 7}, {3, 7}, {4, 7}}));
  const auto with_count = [&](int64_t count) {
    return mistake_of([&] {
      make_test_set(run, {.data = "", .lengths = LengthRange{1, 9}, .count = count, .data_seed = {}});
    });
  };
  EXPECT_EQ(with_count(0), "--count must be positive, not 0");
  for (const int64_t count : {int64_t{11'111'112}, std::numeric_limits<int64_t>::max()})
    EXPECT_TRUE(contains(with_count(count), "is too many; 100000000 examples are the most")) << count;
  EXPECT_TRUE(contains(mistake_of([&] {
                         make_test_set(run, {.data = "", .lengths = LengthRange{30, 30}, .count = 1, .data_seed = {}});
                       }),
                       "has 40 positions"));
}

TEST(TestSet, OfFilesIsChosenByLengthAndCount) {
  const TemporaryFolder folder;
  DataConfig data = small_run("nope").data;
  data.test_count = 20;
  export_data(data, folder / "own");
  TrainConfig config = small_run("nope");
  config.data = {};
  config.data.data = (folder / "own").string();
  const fs::path path = fresh("file-set");
  run_in(path, config);
  const LoadedRun run = load_run(path, "last", "cpu");
  for (const std::string& source : {std::string(), (folder / "own").string(), (folder / "own/test.jsonl").string()}) {
    const auto counts = [&](std::optional<LengthRange> lengths, std::optional<int64_t> count) {
      return lengths_of(make_test_set(run, {.data = source, .lengths = lengths, .count = count, .data_seed = {}}));
    };
    EXPECT_EQ(counts({}, {}), (Counts{{4, 10}, {5, 10}}));
    EXPECT_EQ(counts(LengthRange{5, 9}, {}), (Counts{{5, 10}}));
    EXPECT_EQ(counts({}, 3), (Counts{{4, 3}, {5, 3}}));
    EXPECT_EQ(counts({}, 1000), (Counts{{4, 10}, {5, 10}}));
    EXPECT_TRUE(contains(mistake_of([&] {
                           counts(LengthRange{7, 8}, {});
                         }),
                         "has no example of --lengths 7:8; its lengths are 4:5"));
    EXPECT_TRUE(
        contains(mistake_of([&] { make_test_set(run, {.data = source, .lengths = {}, .count = {}, .data_seed = 1}); }),
                 "--data-seed is for drawn examples"));
  }
  // Nothing in the configuration says which lengths training had; the results do.
  const TrainedLengths trained(path, run.config);
  EXPECT_EQ(trained.say(1), "yes");
  EXPECT_EQ(trained.say(3), "yes");
  EXPECT_EQ(trained.say(4), "longer");
}

TEST(TestSet, WithAWordThatTheRunDoesNotKnowIsRefusedWithItsPlace) {
  const TemporaryFolder folder;
  const fs::path path = fresh("unknown-word");
  run_in(path, small_run("nope"));
  const LoadedRun run = load_run(path, "last", "cpu");
  write_file(folder / "mine.jsonl",
             R"({"prompt":"Sort the following numbers: 2 1 ?","target":"The answer is 1 2.","length":2})"
             "\n"
             R"({"prompt":"Sort the folowing numbers: 2 1 ?","target":"The answer is 1 2.","length":2})"
             "\n");
  const std::string message = mistake_of([&] {
    make_test_set(run, {.data = (folder / "mine.jsonl").string(), .lengths = {}, .count = {}, .data_seed = {}});
  });
  EXPECT_TRUE(contains(message, "mine.jsonl:2: the word 'folowing'")) << message;
  EXPECT_TRUE(contains(message, "'following'")) << message;
  EXPECT_TRUE(contains(mistake_of([&] {
                         make_test_set(run,
                                       {.data = folder.path().string(), .lengths = {}, .count = {}, .data_seed = {}});
                       }),
                       "there is no test.jsonl in it"));
}

}  // namespace
}  // namespace lengthwise
