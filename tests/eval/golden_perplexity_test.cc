// Losses by context and position against an independent NumPy script (tests/golden/make_perplexity.py), for every
// encoding.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <set>

#include "arena/safetensors.h"
#include "core/json.h"
#include "eval/perplexity.h"
#include "model/cpu_engine.h"
#include "model/plain_scorer.h"
#include "positional/registry.h"
#include "tests/model/golden_model.h"
#include "tests/text/made_text.h"

namespace lengthwise {
namespace {

const std::string kGolden = std::string(LENGTHWISE_SOURCE_DIR) + "/tests/golden/";

/// The tokens 3 to 18 are the letters a to p.
class Letters : public Tokenizer {
 public:
  Letters() {
    for (char letter = 'a'; letter <= 'p'; ++letter) texts_.emplace_back(1, letter);
  }
  std::string kind() const override { return "sentencepiece"; }
  std::string checksum() const override { return ""; }
  const std::vector<std::string>& texts() const override { return texts_; }
  void encode(std::string_view text, std::vector<TextToken>& tokens) const override {
    for (const char letter : text) tokens.push_back(static_cast<TextToken>(kTextSpecials + letter - 'a'));
  }

 private:
  std::vector<std::string> texts_;
};

std::unique_ptr<Decoder> golden_model(const std::string& name) {
  auto decoder = std::make_unique<Decoder>(testing_model::golden_config(name), 1);
  const TensorFile file = read_safetensors(kGolden + name + ".safetensors");
  const at::NoGradGuard no_grad;
  for (Parameter& parameter : decoder->parameters().all())
    parameter.value.copy_(file.find("parameter." + parameter.name));
  return decoder;
}

/// The script knows the index alone, and nothing of positions that are drawn.
class ByIndex : public Scorer {
 public:
  explicit ByIndex(Scorer& scorer) : scorer_(scorer) {}
  TargetScores score(const Batch& batch) override { return scorer_.score(batch); }
  int64_t token_budget() const override { return 64; }

 private:
  Scorer& scorer_;
};

void expect_alike(const ContextScore& found, const Json& wanted, const std::string& name) {
  const Json& positions = wanted["positions"];
  ASSERT_EQ(found.positions.size(), positions.size()) << name;
  double nats = 0;
  for (size_t bin = 0; bin < positions.size(); ++bin) {
    const auto sum = positions[bin][2].get<double>();
    EXPECT_EQ(found.positions[bin].from, positions[bin][0].get<int64_t>()) << name;
    EXPECT_EQ(found.positions[bin].sum.tokens, positions[bin][1].get<int64_t>()) << name;
    EXPECT_NEAR(found.positions[bin].sum.nats, sum, 1e-5 * sum) << name << " from " << positions[bin][0];
    nats += sum;
  }
  EXPECT_NEAR(found.sum.nats, nats, 1e-5 * nats) << name;
}

TEST(GoldenPerplexity, AgreesForEveryEncoding) {
  const Json golden = parse_json(read_file(kGolden + "perplexity.json"), "perplexity.json");
  std::vector<std::string> documents;
  for (const Json& document : golden["documents"]) documents.push_back(document.get_ref<const std::string&>());
  const TemporaryFolder folder;
  const auto stream = open_text(make_text(folder, "text", {"a"}, {}, documents, Letters())).stream(TextSplit::test);
  const std::vector<int64_t> bytes(19, 1);
  std::set<std::string> names;
  for (const auto& [name, rows] : golden["encodings"].items()) {
    names.insert(name);
    const std::unique_ptr<Decoder> decoder = golden_model(name);
    if (!rules_of(decoder->encoding()).empty()) continue;  // digits, which these letters are not for us
    CpuEngine engine(*decoder);
    PlainScorer plain(*decoder);
    ByIndex by_engine(engine), by_plain(plain);
    for (const Json& row : rows) {
      const WindowOptions options{.context = row["window"].get<int64_t>(), .stride = row["stride"].get<int64_t>()};
      expect_alike(score_context(by_engine, stream, options, bytes), row, name);
      expect_alike(score_context(by_plain, stream, options, bytes), row, name + ", plain");
    }
  }
  for (const std::string& name : encoding_names())
    EXPECT_TRUE(names.contains(name)) << "run `tools/golden --perplexity` to add " << name;
}

}  // namespace
}  // namespace lengthwise
