/// Text prepared, trained on and measured as a user does it.
#include <gtest/gtest.h>

#include "core/files.h"
#include "core/json.h"
#include "tests/cli/program.h"
#include "tests/text/made_text.h"

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

// The constructed control counts from a first token that all sequences share; windows begin anywhere.
TEST_F(TextCommands, ProbesDoWithoutTheConstructedControl) {
  ASSERT_EQ(run_program({"text", "prepare", at("book.txt"), "--out", at("text"), "--quiet"}).status, 0);
  ASSERT_EQ(run_program(train("run")).status, 0);
  const Outcome probed = run_program({"probe", at("run"), "--lengths", "32", "--sequences", "6", "--tokens", "6",
                                      "--steps", "5", "--content", "exchanged", "--threads", "1", "--quiet"});
  ASSERT_EQ(probed.status, 0) << probed.err;
  EXPECT_TRUE(contains(read_file(folder_ / "run/analysis/probe.json"), "no constructed weights as a control"));
  const std::string table = read_file(folder_ / "run/analysis/probe.csv");
  EXPECT_TRUE(contains(table, "untrained"));
  EXPECT_FALSE(contains(table, "constructed"));
}

// What is asked of runs on text is perplexity: no "solves", no exact match, neither in words nor in tables.
TEST_F(TextCommands, ComparisonsSpeakOfPerplexity) {
  ASSERT_EQ(run_program({"text", "prepare", at("book.txt"), "--out", at("text"), "--quiet"}).status, 0);
  std::string read;
  for (const std::string encoding : {"alibi", "rope"}) {
    std::vector<std::string> words = train("runs/" + encoding);
    words.insert(words.end(), {"--encoding", encoding, "--stride", "16"});
    if (encoding == "rope") words.insert(words.end(), {"--measure-with", "yarn(factor=2)"});
    const Outcome trained = run_program(words);
    ASSERT_EQ(trained.status, 0);
    EXPECT_EQ(contains(trained.out, "read with other encodings than in training"), encoding == "rope") << trained.out;
    read = trained.out;
  }
  // What YaRN made of the longest windows, after training and beside the ranking, sliding windows apart.
  std::string perplexity;
  const nlohmann::json measured = nlohmann::json::parse(read_file(folder_ / "runs/rope/perplexity.json"));
  for (const nlohmann::json& row : measured["rows"]) {
    if (row["selection"] == "best" && row["encoding"] == "yarn(factor=2)" && row["window"] == 64 && row["stride"] == 64)
      perplexity = fmt::format("{:.3f}", row["perplexity"].get<double>());
  }
  ASSERT_FALSE(perplexity.empty());
  const std::vector<std::string> last = lines_of(read);
  EXPECT_TRUE(last.back().starts_with("yarn(factor=2)") && last.back().ends_with("  " + perplexity)) << read;
  const Outcome ranked = run_program({"compare", at("runs")});
  ASSERT_EQ(ranked.status, 0) << ranked.err;
  EXPECT_TRUE(contains(ranked.out, " reads contexts longer than the 32 tokens of training best")) << ranked.out;
  const std::vector<std::string> rows = lines_of(ranked.out);
  const auto reading = std::find_if(rows.begin(), rows.end(), [](const std::string& row) {
    return row.starts_with("rope") && contains(row, " yarn(factor=2) ");
  });
  ASSERT_NE(reading, rows.end()) << ranked.out;
  EXPECT_TRUE(reading->ends_with("  " + perplexity)) << *reading;
  for (const char* part : {"solve", "did not fit", "MRR", "warning"})
    EXPECT_FALSE(contains(ranked.out, part)) << part << "\n" << ranked.out;

  const Outcome tables = run_program({"compare", at("runs"), "--markdown"});
  ASSERT_EQ(tables.status, 0) << tables.err;
  for (const char* part : {"2 runs on text: 2 encodings, 1 seed", "Perplexity by context, windows without overlap",
                           "Perplexity by context, sliding by 16", "| 32 (1×) | 64 (2×) |", "| RoPE, read with YaRN",
                           "Loss by position in windows of 64", "| 33–64 |", "window 64, stride 16 (sliding)"})
    EXPECT_TRUE(contains(tables.out, part)) << part << "\n" << tables.out;
  EXPECT_FALSE(contains(tables.out, "### Ranking")) << tables.out;
}

TEST_F(TextCommands, MistakesAreOneLine) {
  folder_.write("empty.txt", "");
  EXPECT_TRUE(contains(mistake({"text", "prepare", at("empty.txt"), "--out", at("text")}), "holds no text"));
  EXPECT_TRUE(contains(mistake({"text", "prepare", at("none.txt"), "--out", at("text")}), "none.txt"));
  EXPECT_TRUE(contains(mistake({"text", "prepare", at("book.txt")}), "--out"));
  EXPECT_TRUE(contains(mistake(train("run")), "is no folder of prepared text"));
  EXPECT_TRUE(contains(mistake({"data", "stats", "--text", at("text")}), "no examples to count"));
}

/// A tokenizer of one letter, which no run of these tests was trained with.
class OneLetter : public Tokenizer {
 public:
  std::string kind() const override { return "sentencepiece"; }
  std::string checksum() const override { return "crc32c:00000000"; }
  const std::vector<std::string>& texts() const override { return texts_; }
  void encode(std::string_view text, std::vector<TextToken>& tokens) const override {
    tokens.insert(tokens.end(), text.size(), kTextSpecials);
  }

 private:
  std::vector<std::string> texts_{"a"};
};

// Each refused in one line, with nothing done: no folder of a run, nothing measured.
TEST_F(TextCommands, WhatCannotBeUsedIsRefusedBeforeAnyWork) {
  ASSERT_EQ(run_program({"text", "prepare", at("book.txt"), "--out", at("text"), "--quiet"}).status, 0);
  const auto with = [&](std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const auto refused = [&](const std::vector<std::string>& more) {
    const std::string said = mistake(with(train("run"), more));
    EXPECT_FALSE(is_there(folder_ / "run")) << said;
    return said;
  };
  folder_.write("short.txt", "the whale");
  ASSERT_EQ(run_program({"text", "prepare", at("short.txt"), "--validation", at("book.txt"), "--test", at("book.txt"),
                         "--out", at("short"), "--quiet"})
                .status,
            0);
  EXPECT_TRUE(contains(refused({"--text", at("short")}), "has the 32 tokens of --context; the longest gives 10"));
  EXPECT_TRUE(
      contains(refused({"--encoding", "learned(positions=48)"}), "has 48 positions, but a context of 64 is asked for"));
  EXPECT_TRUE(contains(refused({"--contexts", "32,many"}), "--contexts '32,many' is no list of numbers"));
  EXPECT_TRUE(contains(refused({"--stride", "33"}), "--stride must be between 1 and the least of --contexts, 32"));
  EXPECT_TRUE(contains(refused({"--measure-with", "yarm"}), "yarn"));
  EXPECT_TRUE(contains(refused({"--task", "sort"}), "--text and --task exclude each other"));

  ASSERT_EQ(run_program(with(train("run"), {"--encoding", "learned(positions=80)"})).status, 0);
  const std::string before = read_file(folder_ / "run/perplexity.json");
  const auto eval = [&](const std::vector<std::string>& more) {
    const std::string said = mistake(with({"eval", at("run"), "--device", "cpu", "--quiet"}, more));
    EXPECT_EQ(read_file(folder_ / "run/perplexity.json"), before) << said;
    return said;
  };
  EXPECT_TRUE(contains(eval({"--contexts", "32,128"}), "has 80 positions, too few for a context of 128"));
  EXPECT_TRUE(contains(eval({"--contexts", "32", "--stride", "40"}), "--stride must be between 1 and"));
  const std::string letters = make_text(folder_, "letters", {"aaa"}, {}, {"aaaa"}, OneLetter()).string();
  EXPECT_TRUE(contains(eval({"--data", letters}), "(sentencepiece, 4 tokens) is not the one that the run was trained"));
  const std::filesystem::path shard = folder_ / "text/test-00000.tokens";
  const std::string tokens = read_file(shard);
  std::string other = tokens;
  std::swap(other[20], other[40]);
  ASSERT_NE(other, tokens);
  write_file(shard, other);
  EXPECT_TRUE(contains(eval({}), "test-00000.tokens is not the file that its manifest.json tells of"));
  remove_path(shard);
  EXPECT_TRUE(contains(eval({}), "test-00000.tokens is missing"));
  EXPECT_TRUE(contains(mistake(train("another")), "test-00000.tokens is missing"));
}

}  // namespace
}  // namespace lengthwise
