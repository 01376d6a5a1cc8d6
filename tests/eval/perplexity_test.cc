#include "eval/perplexity.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <cmath>

#include "batch/assemble.h"
#include "core/json.h"
#include "eval/engines.h"
#include "model/cpu_engine.h"
#include "tests/text/made_text.h"

namespace lengthwise {
namespace {

constexpr int64_t kVocabulary = 259;

std::unique_ptr<Decoder> model(const std::string& encoding, int64_t layers = 2) {
  ModelConfig config;
  config.layers = layers;
  config.width = 32;
  config.heads = 2;
  config.dropout = 0;
  config.encoding = encoding;
  return make_decoder(resolve(config, kVocabulary), 3, "cpu");
}

/// Knows that letters follow each other in the alphabet, that a document begins with a, and ends behind z.
class Alphabet : public Scorer {
 public:
  TargetScores score(const Batch& batch) override {
    const at::Tensor last = batch.tokens.index_select(0, batch.loss_rows);
    const at::Tensor after_letter = at::where(last == 3 + 'z', at::zeros_like(last), last + 1);
    const at::Tensor next = at::where(last == Vocabulary::kBos, at::full_like(last, 3 + 'a'), after_letter);
    return {at::where(next == batch.targets, 0.0, 100.0), next};
  }
  int64_t token_budget() const override { return 64; }
};

class Perplexity : public testing::Test {
 protected:
  std::shared_ptr<const TextStream> stream_of(const std::vector<std::string>& documents) {
    const std::string name = fmt::format("text-{}", ++made_);
    return open_text(make_text(folder_, name, {"x"}, {}, documents)).stream(TextSplit::test);
  }
  static ContextScore score(Scorer& scorer, const std::shared_ptr<const TextStream>& stream,
                            const WindowOptions& options) {
    std::vector<int64_t> bytes(kVocabulary, 1);
    bytes[0] = bytes[1] = bytes[2] = 0;
    return score_context(scorer, stream, options, bytes);
  }

  TemporaryFolder folder_;
  int made_ = 0;
};

TEST_F(Perplexity, OfAUniformModelIsTheVocabularysSize) {
  const std::unique_ptr<Decoder> decoder = model("rope");
  {
    const at::NoGradGuard no_grad;
    decoder->embedding().value.zero_();
  }
  CpuEngine engine(*decoder);
  const auto stream = stream_of({letters(300, 1), letters(5, 2), letters(77, 3)});
  for (const int64_t stride : {0, 5}) {
    const ContextScore found = score(engine, stream, {.context = 32, .stride = stride});
    EXPECT_EQ(found.sum.tokens, 300 + 5 + 77 + 3);  // and three ends
    EXPECT_EQ(found.bytes, 382);
    EXPECT_NEAR(found.perplexity(), 259, 259 * 1e-6);
    EXPECT_NEAR(found.bits_per_byte(), std::log2(259.0) * 385 / 382, 1e-5);
  }
}

TEST_F(Perplexity, OfAModelThatKnowsIsOne) {
  Alphabet alphabet;
  const std::string text = "abcdefghijklmnopqrstuvwxyz";
  const auto stream = stream_of({text, text});
  for (const WindowOptions& options : {WindowOptions{.context = 7}, WindowOptions{.context = 7, .stride = 3},
                                       WindowOptions{.context = 1}, WindowOptions{.context = 100, .stride = 1}}) {
    const ContextScore found = score(alphabet, stream, options);
    EXPECT_EQ(found.perplexity(), 1);
    EXPECT_EQ(found.bits_per_byte(), 0);
    EXPECT_EQ(found.sum.tokens, 54);
    EXPECT_EQ(found.correct, 54);
  }
  // One letter that it does not expect, and the one behind it.
  const ContextScore wrong = score(alphabet, stream_of({"abcdezghijklmnopqrstuvwxyz"}), {.context = 9});
  EXPECT_EQ(wrong.correct, 25);
  EXPECT_EQ(wrong.sum.nats, 200);
}

TEST_F(Perplexity, WithTheWindowAsStrideIsThatWithoutOverlap) {
  const std::unique_ptr<Decoder> decoder = model("alibi");
  CpuEngine engine(*decoder);
  const auto stream = stream_of({letters(200, 1), letters(90, 2)});
  const ContextScore apart = score(engine, stream, {.context = 24});
  const ContextScore slid = score(engine, stream, {.context = 24, .stride = 24});
  EXPECT_EQ(apart.sum.nats, slid.sum.nats);
  EXPECT_STREQ(slid.protocol(), "no-overlap");
  const ContextScore dense = score(engine, stream, {.context = 24, .stride = 1});
  EXPECT_STREQ(dense.protocol(), "sliding");
  EXPECT_EQ(dense.sum.tokens, apart.sum.tokens);
  EXPECT_NE(dense.sum.nats, apart.sum.nats);
  // A window as long as the documents is one window each, however it slides.
  EXPECT_EQ(score(engine, stream, {.context = 300}).sum.nats,
            score(engine, stream, {.context = 300, .stride = 7}).sum.nats);
}

TEST_F(Perplexity, ByPositionAddsUp) {
  const std::unique_ptr<Decoder> decoder = model("nope");
  CpuEngine engine(*decoder);
  const ContextScore found = score(engine, stream_of({letters(500, 1)}), {.context = 100});
  LossSum sum;
  int64_t next = 1;
  for (const PositionLoss& bin : found.positions) {
    EXPECT_EQ(bin.from, next);
    next = bin.to + 1;
    sum.add(bin.sum);
  }
  EXPECT_EQ(next, 101);
  EXPECT_EQ(sum.tokens, 501);
  EXPECT_DOUBLE_EQ(sum.nats, found.sum.nats);
  EXPECT_EQ(found.positions[0].sum.tokens, 6);
  EXPECT_EQ(found.positions[7].from, 65);
  EXPECT_EQ(found.positions[7].sum.tokens, 5 * 36);
}

/// The loss of a document's last letter, which stands alone behind a window's worth of others.
double last_loss(Scorer& scorer, const std::shared_ptr<const TextStream>& stream, int64_t context) {
  const TokenSet set = text_windows(stream, {.context = context});
  const int64_t first[] = {0};
  const at::Tensor losses = scorer.score(make_batch(set, first)).losses;
  return losses[losses.size(0) - 1].item<double>();
}

// Without an encoding one layer sees what stands before a token, not where; RoPE sees where as well. Neither sees
// anything behind it.
TEST_F(Perplexity, ShuffledContextChangesWhatItShould) {
  const std::string text = letters(40, 1);
  std::string shuffled = text;
  std::reverse(shuffled.begin(), shuffled.begin() + 37);
  std::string other_end = text;
  other_end[39] = other_end[39] == 'q' ? 'r' : 'q';
  const auto plain = stream_of({text});
  const auto mixed = stream_of({shuffled});
  const auto changed = stream_of({other_end});
  for (const char* encoding : {"nope", "rope"}) {
    const std::unique_ptr<Decoder> decoder = model(encoding, 1);
    CpuEngine engine(*decoder);
    const double before = last_loss(engine, plain, 39);
    if (std::string(encoding) == "nope") {
      EXPECT_NEAR(last_loss(engine, mixed, 39), before, 1e-5);
    } else {
      EXPECT_GT(std::abs(last_loss(engine, mixed, 39) - before), 1e-4);
    }
    EXPECT_EQ(last_loss(engine, plain, 38), last_loss(engine, changed, 38));
  }
}

TEST_F(Perplexity, IsKeptByProtocol) {
  Alphabet alphabet;
  const auto stream = stream_of({"abcdefghijklmnopqrstuvwxyz"});
  const ContextScore one = score(alphabet, stream, {.context = 7});
  const ContextScore two = score(alphabet, stream, {.context = 7, .stride = 2});
  ContextProtocol protocol;
  protocol.selection = "best";
  protocol.encoding = "rope";
  const auto rows = [&] {
    const Json json = parse_json(read_file(folder_ / "perplexity.json"), "test");
    check_seal(json, "test");
    return json["rows"];
  };
  record_contexts(folder_.path(), protocol, {one, two});
  EXPECT_EQ(rows().size(), 2u);
  protocol.step = 9;
  record_contexts(folder_.path(), protocol, {two});
  ASSERT_EQ(rows().size(), 2u);
  EXPECT_EQ(rows()[1]["step"], 9);
  EXPECT_EQ(rows()[1]["protocol"], "sliding");
  EXPECT_EQ(rows()[1]["perplexity"], 1);
  protocol.selection = "last";
  record_contexts(folder_.path(), protocol, {two});
  EXPECT_EQ(rows().size(), 3u);
  const std::string line = protocol_line(protocol, two);
  for (const char* part : {"window 7", "stride 2 (sliding)", "27 tokens scored", "documents apart"})
    EXPECT_NE(line.find(part), std::string::npos) << line;
}

}  // namespace
}  // namespace lengthwise
