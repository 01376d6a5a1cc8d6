// At positions that come by a rule, training, scoring, caches, generation and analyses see the same positions.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "batch/assemble.h"
#include "data/data_set.h"
#include "infer/greedy.h"
#include "infer/teacher_forcing.h"
#include "model/cpu_engine.h"
#include "model/inspect.h"
#include "model/key_value_cache.h"
#include "model/plain_decoder.h"
#include "model/plain_layer.h"
#include "tasks/registry.h"
#include "tests/model/test_model.h"

namespace lengthwise {
namespace {

using testing_model::shake;

const DataSet& sums() {
  static const DataSet set = [] {
    DataConfig config;
    config.task = "addition-reversed";
    config.train_lengths = LengthRange{1, 4};
    config.test_lengths = LengthRange{1, 5};
    config.train_count = 200;
    config.test_count = 60;
    return build_data_set(config, 1);
  }();
  return set;
}

ModelConfig config_of(const std::string& encoding) {
  ModelConfig config;
  config.layers = 2;
  config.width = 32;
  config.heads = 2;
  config.ff_width = 48;
  config.dropout = 0;
  config.encoding = encoding;
  config.trained_room = 2;
  return resolve(config, sums().vocabulary.size());
}

class AtRule : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Decoder> decoder(at::ScalarType type = at::kDouble) const {
    auto made = std::make_unique<Decoder>(config_of(GetParam()), 6, type);
    shake(*made);
    made->know(std::make_shared<Glossary>(sums().vocabulary, &find_task("addition-reversed")));
    at::NoGradGuard no_grad;
    made->embedding().value[Vocabulary::kEos].mul_(2);
    return made;
  }
};

TEST_P(AtRule, TheIndexWouldBeSomethingElse) {
  const auto model = decoder();
  const std::vector<int64_t> some{0, 7, 30};
  const Batch placed = make_batch(sums().test, some, {}, {.placing = &model->placing()});
  ASSERT_FALSE(placed.streams.empty());
  const Batch unplaced = make_batch(sums().test, some);
  const StepDropout beginning{.seed = 1};  // of training: there is nothing to be placed behind it where it is dropped
  EXPECT_FALSE(
      at::allclose(plain_logits(*model, placed, beginning), plain_logits(*model, unplaced, beginning), 1e-3, 1e-3));
}

TEST_P(AtRule, TheEngineIsThePlainDecoder) {
  const auto model = decoder();
  const Rng rng(3);
  const std::vector<int64_t> some{0, 7, 30, 8, 111};
  const Batch batch = make_batch(sums().train, some, {}, {.placing = &model->placing(), .rng = &rng, .step = 5});
  plain_loss(*model, batch).backward();
  const at::Tensor wanted = model->parameters().gradients().clone();
  model->parameters().gradients().zero_();
  CpuEngine(*model).accumulate_gradients(batch, {}, 1.0 / static_cast<double>(batch.target_count()));
  EXPECT_TRUE(at::allclose(model->parameters().gradients(), wanted, 1e-8, 1e-10));
  for (const Parameter* parameter : model->encoding_parameters()) {
    EXPECT_GT(parameter->gradient.abs().max().item<double>(), 0) << parameter->name;
  }
}

TEST_P(AtRule, TheCacheGivesTheLogitsOfTheWholeSequence) {
  const auto model = decoder();
  Batch batch =
      make_batch(sums().test, std::vector<int64_t>{sums().test.size() - 1}, {}, {.placing = &model->placing()});
  const int64_t tokens = batch.token_count();
  batch.loss_rows = at::arange(tokens, at::kLong);
  const at::Tensor whole = plain_logits(*model, batch).detach();
  KeyValueCache cache(*model, 1, tokens);
  const int64_t first = 5;
  std::vector<at::Tensor> streams;
  for (const at::Tensor& stream : batch.streams) streams.push_back(stream.narrow(0, 0, first).unsqueeze(0));
  const at::Tensor read =
      cache.prefill(batch.tokens.narrow(0, 0, first).unsqueeze(0), batch.positions.narrow(0, 0, first).unsqueeze(0),
                    at::tensor({first}, at::kLong), streams);
  EXPECT_TRUE(at::allclose(read[0], whole.narrow(0, 0, first), 1e-9, 1e-9));
  for (int64_t at = first; at < tokens; ++at) {
    streams.clear();
    for (const at::Tensor& stream : batch.streams) streams.push_back(stream.narrow(0, at, 1));
    const at::Tensor logits =
        cache.step(batch.tokens.narrow(0, at, 1), batch.positions.narrow(0, at, 1), at + 1, {}, streams);
    EXPECT_TRUE(at::allclose(logits[0], whole[at], 1e-9, 1e-9)) << at;
  }
}

/// Prompts and what follows them, as a set to be scored.
TokenSet as_set(const std::vector<std::vector<int32_t>>& prompts, const std::vector<std::vector<int32_t>>& answers) {
  TokenSet set;
  for (size_t i = 0; i < prompts.size(); ++i) {
    set.tokens.insert(set.tokens.end(), prompts[i].begin(), prompts[i].end());
    set.tokens.insert(set.tokens.end(), answers[i].begin(), answers[i].end());
    set.tokens.push_back(Vocabulary::kEos);
    set.offsets.push_back(std::ssize(set.tokens));
    set.prompt_tokens.push_back(static_cast<int32_t>(prompts[i].size()));
    set.length.push_back(1);
  }
  return set;
}

TEST_P(AtRule, GenerationWritesWhatScoringFindsBest) {
  const auto model = decoder();
  std::vector<std::vector<int32_t>> prompts;
  for (int64_t i = 0; i < sums().test.size(); ++i) {
    prompts.emplace_back(sums().test.prompt(i).begin(), sums().test.prompt(i).end());
  }
  constexpr int64_t kLimit = 70;  // more than one round
  const auto answers = generate_greedy(*model, prompts, {.max_total_tokens = kLimit, .batch_size = 16});
  CpuEngine engine(*model);
  const TokenSet written = as_set(prompts, answers);
  const auto scores = score_examples(engine, written, all_examples(written));
  int64_t tokens = 0;
  for (size_t i = 0; i < scores.size(); ++i) {
    EXPECT_GE(scores[i].agreed, std::ssize(answers[i])) << i;
    tokens += std::ssize(answers[i]);
  }
  EXPECT_GT(tokens, 60);
  // Going on with what was written before is the same, as long as it is known where the prompt ended.
  std::vector<std::vector<int32_t>> begun = prompts;
  GreedyOptions options{.max_total_tokens = kLimit};
  std::vector<std::vector<int32_t>> rest = answers;
  for (size_t i = 0; i < begun.size(); ++i) {
    options.prompt_tokens.push_back(std::ssize(prompts[i]));
    const auto some = static_cast<int64_t>(std::min<size_t>(answers[i].size(), 3));
    begun[i].insert(begun[i].end(), answers[i].begin(), answers[i].begin() + some);
    rest[i].erase(rest[i].begin(), rest[i].begin() + some);
  }
  EXPECT_EQ(generate_greedy(*model, begun, options), rest);
}

TEST_P(AtRule, AnalysesSeeWhatScoringSees) {
  const auto model = decoder();
  const Batch batch = make_batch(sums().test, std::vector<int64_t>{40}, {}, {.placing = &model->placing()});
  const auto* first = batch.tokens.const_data_ptr<int64_t>();
  const Batch alone = placed_sequence(*model, {first, first + batch.token_count()});
  ASSERT_EQ(alone.streams.size(), batch.streams.size());
  for (size_t i = 0; i < batch.streams.size(); ++i) EXPECT_TRUE(at::equal(alone.streams[i], batch.streams[i]));
  at::Tensor states;
  Inspection inspection;
  inspection.block = 40;
  inspection.layer = [&](const LayerView& view) { states = view.after; };
  inspect(*model, alone, inspection);
  const at::Tensor logits = plain_head(*model, states.index_select(0, batch.loss_rows));
  EXPECT_TRUE(at::allclose(logits, plain_logits(*model, batch).detach(), 1e-9, 1e-9));
}

INSTANTIATE_TEST_SUITE_P(Texts, AtRule,
                         testing::Values("randomized(rope)", "randomized(alibi)", "randomized(t5)", "randomized(fire)",
                                         "randomized(shaw)", "randomized(dape)", "randomized(alibi+window(size=200))",
                                         "random-float(rope)", "random-float(alibi)", "abacus+rope", "abacus+fire",
                                         "coupled(learned)", "coupled(rope)", "layers(randomized(rope),t5)",
                                         "alibi+randomized(t5,max=99)", "randomized(tape)", "randomized(rerope)",
                                         "random-float(self-extend)", "randomized(dynamic-ntk)",
                                         "drope(randomized(rope))", "layers(tape,randomized(tape))"));

TEST(RandomizedAlibi, IsAlibiWhereAllPositionsAreTaken) {
  // Prompts of 8 tokens with room for as many again: 16 positions of 16.
  Decoder alibi(config_of("alibi"), 6, at::kDouble);
  Decoder randomized(config_of("randomized(alibi,max=16)"), 6, at::kDouble);
  shake(alibi);
  shake(randomized);
  TokenSet set = as_set({{1, 5, 6, 7, 8, 9, 4, 2}, {1, 9, 6, 7, 5, 9, 4, 2}}, {{5, 6, 7, 8, 9, 4, 5, 6}, {5, 6}});
  const Batch batch = make_batch(set, all_examples(set), {}, {.placing = &randomized.placing()});
  EXPECT_TRUE(at::equal(batch.streams.front(), batch.positions));
  const Batch by_index = make_batch(set, all_examples(set));
  EXPECT_TRUE(at::allclose(plain_logits(alibi, by_index), plain_logits(randomized, batch), 1e-12, 1e-12));
}

}  // namespace
}  // namespace lengthwise
