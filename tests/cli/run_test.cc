/// `lengthwise encodings`, `train`, `eval` and `generate` as a user runs them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/files.h"
#include "positional/registry.h"
#include "tests/cli/program.h"
#include "tests/core/temporary_folder.h"

namespace lengthwise {
namespace {

TEST(EncodingsCommand, ListsEveryEncoding) {
  const Outcome table = run_program({"encodings"});
  EXPECT_EQ(table.status, 0) << table.err;
  for (const std::string& name : encoding_names()) EXPECT_TRUE(contains(table.out, name)) << name;
}

TEST(RunCommands, TrainEvaluateAndAnswer) {
  const TemporaryFolder folder;
  const std::string run = (folder / "run").string();
  const Outcome trained = run_program({"train", "--task",         "sort", "--train-lengths",  "1:4", "--train-count",
                                       "200",   "--test-lengths", "5:6",  "--test-count",     "20",  "--model",
                                       "tiny",  "--steps",        "12",   "--validate-every", "6",   "--device",
                                       "cpu",   "--threads",      "1",    "--seed",           "3",   "--precision",
                                       "fp32",  "--out",          run});
  ASSERT_EQ(trained.status, 0) << trained.err;

  const Outcome table = run_program(
      {"eval", run, "--lengths", "2:3", "--count", "5", "--weights", "last", "--device", "cpu", "--threads", "1"});
  ASSERT_EQ(table.status, 0) << table.err;
  EXPECT_TRUE(table.out.starts_with("last weights of step 12, greedy-where-needed, fp32\n")) << table.out;
  EXPECT_EQ(lines_of(table.out).size(), 5u) << "a title, the names, a line and two lengths: " << table.out;

  const auto with_encoding = [&](const std::string& encoding) {
    return run_program({"eval", run, "--lengths", "2:3", "--count", "5", "--weights", "last", "--device", "cpu",
                        "--threads", "1", "--encoding", encoding});
  };
  EXPECT_EQ(with_encoding("nope").out, table.out);
  const Outcome narrow = with_encoding("window(size=1)");
  EXPECT_EQ(narrow.status, 0) << narrow.err;
  EXPECT_NE(narrow.out, table.out);
  const Outcome learned = with_encoding("t5");
  EXPECT_EQ(learned.status, 2);
  EXPECT_TRUE(contains(learned.err, "encoding.relative_bias")) << learned.err;

  const Outcome json =
      run_program({"eval", run, "--lengths", "5:6", "--count", "5", "--json", "--device", "cpu", "--threads", "1"});
  ASSERT_EQ(json.status, 0) << json.err;
  std::vector<int64_t> lengths;
  for (const std::string& line : lines_of(json.out)) {
    const auto row = nlohmann::json::parse(line);
    lengths.push_back(row.at("length").get<int64_t>());
    EXPECT_EQ(row.at("count").get<int64_t>(), 5) << line;
    EXPECT_EQ(row.at("selection").get<std::string>(), "best") << line;
  }
  EXPECT_EQ(lengths, (std::vector<int64_t>{5, 6}));

  const Outcome answer =
      run_program({"generate", run, "Sort the following numbers: 3 1 2 ?", "--explain", "--threads", "1"});
  ASSERT_EQ(answer.status, 0) << answer.err;
  EXPECT_TRUE(answer.out.starts_with("answer: ")) << answer.out;
  EXPECT_TRUE(contains(answer.out, "\nright:  The answer is 1 2 3.\n")) << answer.out;

  const std::string prompts = "Sort the following numbers: 3 1 2 ?\nSort the following numbers: 4 4 ?\n";
  write_file(folder / "prompts.txt", prompts);
  const Outcome one = run_program({"generate", run, "Sort the following numbers: 4 4 ?", "--threads", "1"});
  const Outcome many = run_program({"generate", run, "--prompts", (folder / "prompts.txt").string(), "--threads", "1"});
  ASSERT_EQ(many.status, 0) << many.err;
  ASSERT_EQ(lines_of(many.out).size(), 2u) << many.out;
  EXPECT_EQ(lines_of(many.out)[1] + "\n", one.out) << "the answers come in the order of the prompts";
  const Outcome piped =
      run_program({"generate", run, "--prompts", "-", "--json", "--explain", "--threads", "1"}, prompts);
  ASSERT_EQ(piped.status, 0) << piped.err;
  ASSERT_EQ(lines_of(piped.out).size(), 2u) << piped.out;
  const auto last = nlohmann::json::parse(lines_of(piped.out)[1]);
  EXPECT_EQ(last["prompt"].get<std::string>(), "Sort the following numbers: 4 4 ?");
  EXPECT_EQ(last["answer"].get<std::string>(), lines_of(many.out)[1]);
  EXPECT_EQ(last["right"].get<std::string>(), "The answer is 4 4.");
  EXPECT_TRUE(last["correct"].is_boolean());
  EXPECT_TRUE(
      contains(mistake({"generate", run, "-"}, prompts + "Sort teh numbers\n"), "standard input:3: the word 'teh'"));
  EXPECT_TRUE(contains(mistake({"generate", run, "-"}, "a\n\nb\n"), "standard input:"));
  EXPECT_TRUE(contains(mistake({"generate", run}), "a PROMPT is needed, or --prompts FILE"));
  EXPECT_TRUE(contains(mistake({"eval", run, "--threads", "99999"}), "--threads must be between 0 and "));

  EXPECT_EQ(mistake({"eval", run, "--precision", "fp16"}),
            "lengthwise: --precision must be fp32, bf16, tf32 or auto, not 'fp16'\n");
  EXPECT_EQ(mistake({"eval", run, "--weights", "first"}), "lengthwise: --weights must be best or last, not 'first'\n");
  EXPECT_EQ(mistake({"eval", run, "--count", "0"}), "lengthwise: --count must be positive, not 0\n");
  EXPECT_TRUE(contains(mistake({"eval", (folder / "none").string()}), "none")) << "the folder is named";
}

}  // namespace
}  // namespace lengthwise
