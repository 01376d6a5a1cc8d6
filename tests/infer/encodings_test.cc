// Teacher forcing, the key-value cache and greedy generation agree, for every encoding.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "batch/assemble.h"
#include "data/vocabulary.h"
#include "infer/greedy.h"
#include "infer/key_value_cache.h"
#include "infer/rounds.h"
#include "infer/steady_greedy.h"
#include "infer/teacher_forcing.h"
#include "model/cpu_engine.h"
#include "model/plain_decoder.h"
#include "tests/model/test_model.h"

namespace lengthwise {
namespace {

using testing_model::random_batch;
using testing_model::shake;
using testing_model::small_config;

class EveryEncodingInfers : public testing::TestWithParam<std::string> {};

TEST_P(EveryEncodingInfers, CacheGivesTheLogitsOfTheWholeSequence) {
  Decoder decoder(small_config(GetParam()), 1, at::kDouble);
  shake(decoder);
  Batch batch = random_batch({18}, 3);
  batch.loss_rows = at::arange(18, at::kLong);
  const at::Tensor whole = plain_logits(decoder, batch).detach();
  // Two copies side by side, one prefilled with 5 tokens and one with 9.
  KeyValueCache cache(decoder, 2, 18);
  const at::Tensor tokens = batch.tokens.narrow(0, 0, 9).unsqueeze(0).expand({2, -1}).contiguous();
  const at::Tensor positions = at::arange(9, at::kLong).unsqueeze(0).expand({2, -1}).contiguous();
  const at::Tensor first = cache.prefill(tokens, positions, at::tensor({int64_t{5}, int64_t{9}}, at::kLong));
  EXPECT_TRUE(at::allclose(first[0].narrow(0, 0, 5), whole.narrow(0, 0, 5), 1e-9, 1e-9));
  EXPECT_TRUE(at::allclose(first[1], whole.narrow(0, 0, 9), 1e-9, 1e-9));
  for (int64_t step = 0; step < 9; ++step) {
    const at::Tensor at_now = at::tensor({5 + step, 9 + step}, at::kLong);
    const at::Tensor logits = cache.step(batch.tokens.index_select(0, at_now), at_now, 10 + step);
    EXPECT_TRUE(at::allclose(logits, whole.index_select(0, at_now), 1e-9, 1e-9)) << step;
  }
}

TEST_P(EveryEncodingInfers, SteadyGenerationGivesTheSameAnswers) {
  Decoder decoder(small_config(GetParam()), 6, at::kDouble);
  shake(decoder);
  {
    at::NoGradGuard no_grad;
    decoder.embedding().value[Vocabulary::kEos].mul_(2);
  }
  std::vector<std::vector<int32_t>> prompts;
  Rng rng = Rng(8).stream("prompts");
  for (int i = 0; i < 37; ++i) {
    std::vector<int32_t>& prompt = prompts.emplace_back();
    for (int64_t t = rng.between(1, 12); t > 0; --t) prompt.push_back(static_cast<int32_t>(rng.between(3, 22)));
  }
  int64_t captured = 0;
  int64_t replayed = 0;
  const Capture capture = [&](const std::function<void()>& body) -> std::function<void()> {
    ++captured;
    return [&replayed, body] {
      ++replayed;
      body();
    };
  };
  for (const int64_t limit : {13, 80}) {
    const auto expected = generate_greedy(decoder, prompts, {.max_total_tokens = limit, .batch_size = 10});
    SteadyGreedy greedy(decoder, 10, 80, capture);
    std::vector<std::vector<int32_t>> answers(prompts.size());
    const auto generate = [&](std::span<const std::vector<int32_t>> texts, int64_t stop,
                              std::span<std::vector<int32_t>> written) { greedy.generate(texts, stop, written); };
    generate_in_rounds(prompts, 10, limit, answers, generate, nullptr);
    EXPECT_EQ(answers, expected) << limit;
  }
  EXPECT_LE(captured, 5) << "one for each number of keys looked at";
  EXPECT_GT(replayed, 20);
}

/// Sequences over 20 words; the model is random, so answers are too.
TokenSet random_set(int64_t count, uint64_t seed) {
  TokenSet set;
  set.category_names = {"1"};
  Rng rng = Rng(seed).stream("set");
  for (int64_t i = 0; i < count; ++i) {
    const int64_t prompt = rng.between(1, 9);
    const int64_t target = rng.between(0, 3);
    for (int64_t t = 0; t < prompt + target; ++t) set.tokens.push_back(static_cast<int32_t>(rng.between(3, 22)));
    set.tokens.push_back(Vocabulary::kEos);
    set.offsets.push_back(static_cast<int64_t>(set.tokens.size()));
    set.prompt_tokens.push_back(static_cast<int32_t>(prompt));
    set.length.push_back(1);
    set.category.push_back(0);
  }
  return set;
}

TEST_P(EveryEncodingInfers, TeacherForcingAndGenerationAgreeOnEveryExample) {
  // In double, so that rounding does not decide between two equally likely tokens.
  Decoder decoder(small_config(GetParam()), 6, at::kDouble);
  shake(decoder);
  {
    // A bias towards the end marker, so that some answers end soon and some examples are right.
    at::NoGradGuard no_grad;
    decoder.embedding().value[Vocabulary::kEos].mul_(3);
  }
  TokenSet set = random_set(300, 11);
  // Gold answers of half of the examples are what the model says, so that both outcomes occur.
  std::vector<std::vector<int32_t>> prompts;
  for (int64_t i = 0; i < set.size(); ++i) prompts.emplace_back(set.prompt(i).begin(), set.prompt(i).end());
  const auto answers = generate_greedy(decoder, prompts, {.max_total_tokens = 24, .batch_size = 64});
  TokenSet mixed;
  mixed.category_names = {"1"};
  for (int64_t i = 0; i < set.size(); ++i) {
    const auto& answer = answers[static_cast<size_t>(i)];
    const bool own = i % 2 == 0;
    mixed.tokens.insert(mixed.tokens.end(), prompts[static_cast<size_t>(i)].begin(),
                        prompts[static_cast<size_t>(i)].end());
    if (own) {
      mixed.tokens.insert(mixed.tokens.end(), answer.begin(), answer.end());
      mixed.tokens.push_back(Vocabulary::kEos);
    } else {
      mixed.tokens.insert(mixed.tokens.end(), set.target(i).begin(), set.target(i).end());
    }
    mixed.offsets.push_back(static_cast<int64_t>(mixed.tokens.size()));
    mixed.prompt_tokens.push_back(set.prompt_tokens[static_cast<size_t>(i)]);
    mixed.length.push_back(1);
    mixed.category.push_back(0);
  }
  CpuEngine engine(decoder);
  const auto scores = score_examples(engine, mixed, all_examples(mixed), nullptr, 200);
  int64_t right = 0;
  for (int64_t i = 0; i < mixed.size(); ++i) {
    const auto& answer = answers[static_cast<size_t>(i)];
    const auto gold = mixed.target(i);
    // An answer cut at the limit never produced its end marker.
    const bool cut = static_cast<int64_t>(prompts[static_cast<size_t>(i)].size() + answer.size()) >= 24;
    const bool generated = !cut && std::equal(answer.begin(), answer.end(), gold.begin(), gold.end() - 1);
    if (cut) continue;
    EXPECT_EQ(scores[static_cast<size_t>(i)].exact, generated) << i;
    right += generated ? 1 : 0;
  }
  EXPECT_GT(right, 5);
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryEncodingInfers, testing::ValuesIn(encoding_names()), [](const auto& instance) {
  std::string name = instance.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace lengthwise
