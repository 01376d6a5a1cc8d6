/// Text prepared, trained on and measured as a user does it.
#include <gtest/gtest.h>

#include "core/files.h"
#include "core/json.h"
#include "tests/cli/program.h"
#include "tests/core/temporary_folder.h"

namespace lengthwise {
namespace {

class TextCommands : public testing::Test {
 protected:
  void SetUp() override {
    std::string text;
    for (int line = 0; line < 600; ++line)
      text += "the whale, the white whale and the sea " + std::to_string(line) + "\n";
    folder_.write("book.txt", text);
  }
  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  std::vector<std::string> train(const std::string& out) const {
    return {"train",
            "--text",
            at("text"),
            "--context",
            "32",
            "--contexts",
            "32,64",
            "--steps",
            "8",
            "--width",
            "32",
            "--heads",
            "2",
            "--layers",
            "1",
            "--batch-size",
            "4",
            "--threads",
            "1",
            "--device",
            "cpu",
            "--precision",
            "fp32",
            "--quiet",
            "--validate-every",
            "4",
            "--out",
            at(out)};
  }

  TemporaryFolder folder_;
};

TEST_F(TextCommands, PrepareTrainMeasureAndRank) {
  const Outcome prepared = run_program({"text", "prepare", at("book.txt"), "--out", at("text"), "--quiet"});
  ASSERT_EQ(prepared.status, 0) << prepared.err;
  EXPECT_TRUE(contains(prepared.out, "259 tokens in the vocabulary")) << prepared.out;
  const Outcome trained = run_program(train("run"));
  ASSERT_EQ(trained.status, 0) << trained.err;
  EXPECT_TRUE(contains(trained.out, "perplexity")) << trained.out;

  const Outcome table = run_program({"eval", at("run"), "--contexts", "16,32,128", "--device", "cpu", "--quiet"});
  ASSERT_EQ(table.status, 0) << table.err;
  for (const char* part : {"bits per byte", "0.5x", "4x", "tokens before", "window 128, stride 128 (no overlap)",
                           "test text of book.txt (crc32c:", "trained at 32 (8 steps of 4 windows)"})
    EXPECT_TRUE(contains(table.out, part)) << part << "\n" << table.out;
  const Outcome sliding = run_program({"eval", at("run"), "--contexts", "32", "--stride", "8", "--tokens", "500",
                                       "--json", "--device", "cpu", "--quiet"});
  ASSERT_EQ(sliding.status, 0) << sliding.err;
  const Json row = parse_json(sliding.out, "test");
  EXPECT_EQ(row["protocol"], "sliding");
  EXPECT_EQ(row["tokens"], 499);
  const Json kept = parse_json(read_file(folder_ / "run/perplexity.json"), "test");
  int64_t best = 0;
  for (const Json& found : kept["rows"]) best += found["selection"] == "best" ? 1 : 0;
  EXPECT_EQ(best, 5) << "32 and 64 of training, 16 and 128, and one that slides";

  const Outcome ranked = run_program({"compare", folder_.path().string()});
  EXPECT_EQ(ranked.status, 0) << ranked.err;
  EXPECT_TRUE(contains(ranked.out, "64 (2x)")) << ranked.out;
  EXPECT_FALSE(contains(ranked.out, "did not fit")) << ranked.out;
  const Outcome answer = run_program({"generate", at("run"), "the white ", "--max-tokens", "20"});
  EXPECT_EQ(answer.status, 0) << answer.err;
}

TEST_F(TextCommands, MistakesAreOneLine) {
  folder_.write("empty.txt", "");
  EXPECT_TRUE(contains(mistake({"text", "prepare", at("empty.txt"), "--out", at("text")}), "holds no text"));
  EXPECT_TRUE(contains(mistake({"text", "prepare", at("none.txt"), "--out", at("text")}), "none.txt"));
  EXPECT_TRUE(contains(mistake({"text", "prepare", at("book.txt")}), "--out"));
  EXPECT_TRUE(contains(mistake(train("run")), "is no folder of prepared text"));
  EXPECT_TRUE(contains(mistake({"data", "stats", "--text", at("text")}), "no examples to count"));
}

}  // namespace
}  // namespace lengthwise
