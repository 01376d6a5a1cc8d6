/// Recurrent networks as a user meets them.
#include <gtest/gtest.h>

#include "core/files.h"
#include "tests/cli/program.h"
#include "tests/core/temporary_folder.h"

namespace lengthwise {
namespace {

using Words = std::vector<std::string>;

TEST(Architecture, IsTrainedAskedComparedReportedAndProbed) {
  const TemporaryFolder folder;
  const auto trained = [&](const std::string& name, const Words& more) {
    Words words{"train",
                "--task",
                "sort",
                "--train-lengths",
                "1:4",
                "--train-count",
                "200",
                "--out",
                (folder / name).string(),
                "--device",
                "cpu",
                "--threads",
                "1",
                "--test-lengths",
                "5:6",
                "--test-count",
                "20",
                "--steps",
                "4",
                "--validate-every",
                "2",
                "--quiet"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = run_program(words);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return (folder / name).string();
  };
  const std::string clockwork = trained("clockwork", {"--architecture", "cwrnn", "--hidden", "12"});
  const std::string lstm = trained("lstm", {"--architecture", "lstm", "--hidden", "8"});
  trained("decoder", {"--encoding", "rope", "--layers", "1", "--width", "16", "--heads", "2"});

  EXPECT_EQ(run_program({"eval", clockwork, "--quiet"}).status, 0);
  const Outcome answer = run_program({"generate", lstm, "Sort the following numbers: 3 1 2 ?"});
  EXPECT_EQ(answer.status, 0) << answer.err;
  const Outcome compared = run_program({"compare", folder.path().string()});
  EXPECT_EQ(compared.status, 0) << compared.err;
  for (const char* name : {"cwrnn", "lstm", "rope"}) EXPECT_TRUE(contains(compared.out, name)) << name;
  EXPECT_FALSE(contains(compared.out + compared.err, "also differ in hidden")) << compared.out;
  EXPECT_EQ(run_program({"report", folder.path().string()}).status, 0);
  EXPECT_TRUE(contains(read_file(folder / "report.html"), "Clockwork RNN"));

  const Outcome probed = run_program(
      {"probe", clockwork, "--sequences", "6", "--tokens", "6", "--steps", "5", "--quiet", "--threads", "1"});
  EXPECT_EQ(probed.status, 0) << probed.err;
  EXPECT_TRUE(contains(probed.out, "clockwork, cwrnn: position")) << probed.out;
  for (const Words& words : {Words{"heads", clockwork}, Words{"similarity", clockwork, lstm}}) {
    EXPECT_TRUE(contains(mistake(words), "is a run of the architecture cwrnn, which has no attention to look at"))
        << words.front();
  }
  EXPECT_TRUE(contains(mistake({"eval", clockwork, "--encoding", "rope"}), "which has no positional encoding"));
}

TEST(Architecture, MistakesAreOneLine) {
  const Words train{"train", "--task", "sort", "--out", "nowhere-at-all"};
  const auto said = [&](const Words& more) {
    Words words = train;
    words.insert(words.end(), more.begin(), more.end());
    return mistake(words);
  };
  EXPECT_TRUE(contains(said({"--architecture", "cwrnn", "--encoding", "alibi"}),
                       "--encoding alibi goes with --architecture decoder"));
  EXPECT_TRUE(contains(said({"--architecture", "cwrn"}), "did you mean 'cwrnn'"));
  EXPECT_TRUE(contains(said({"--architecture", "cwrnn", "--periods", "2,1"}), "each more than the last"));
  EXPECT_TRUE(contains(said({"--architecture", "rnn", "--precision", "bf16"}), "rnn computes in fp32"));
  EXPECT_TRUE(contains(said({"--hidden", "7"}), "--hidden goes with a recurrent --architecture"));
}

TEST(Architecture, ClocksStandBesideRotations) {
  const TemporaryFolder folder;
  const std::string svg = (folder / "both.svg").string();
  const Outcome shown =
      run_program({"encodings", "show", "rope(fraction=1)", "--beside", "cwrnn", "--length", "32", "--svg", svg});
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_TRUE(contains(shown.out, "modules: 1 to 32 tokens, 2 times as long from one to the next; pairs of dims: 6.28"))
      << shown.out;
  EXPECT_TRUE(contains(shown.out, "clocks: 1 where a module is computed"));
  EXPECT_TRUE(contains(shown.out, "period 4 @   @   @   @   @   @   @   @")) << shown.out;
  EXPECT_TRUE(contains(shown.out, "rotations: cosine"));
  const std::string drawn = read_file(svg);
  EXPECT_TRUE(contains(drawn, "clocks: 1 where") && contains(drawn, "rotations: cosine"));
  EXPECT_TRUE(contains(mistake({"encodings", "show", "alibi", "--beside", "cwrnn"}), "turns nothing"));
  EXPECT_TRUE(contains(mistake({"encodings", "show", "rope", "--beside", "lstm"}), "must be cwrnn"));
}

TEST(Architecture, WaveformsAreLearnedFromAConstantInput) {
  const Outcome outcome = run_program({"waveform", "--waveforms", "1", "--samples", "32", "--steps", "150",
                                       "--parameters", "300", "--periods", "1,2,4,8", "--quiet"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const char* name : {"cwrnn", "rnn", "lstm"}) EXPECT_TRUE(contains(outcome.out, name)) << outcome.out;
  EXPECT_TRUE(contains(mistake({"waveform", "--steps", "0"}), "--steps must be between 1"));
}

}  // namespace
}  // namespace lengthwise
