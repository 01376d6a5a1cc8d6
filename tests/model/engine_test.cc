// The fused engine against the plain decoder, and the plain decoder against finite differences, for every encoding.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "model/cpu_engine.h"
#include "model/plain_decoder.h"
#include "tests/model/test_model.h"

namespace lengthwise {
namespace {

using testing_model::random_batch;
using testing_model::shake;
using testing_model::small_config;

class EveryEncoding : public testing::TestWithParam<std::string> {};

void compare(const std::string& encoding, at::ScalarType type, double tolerance) {
  Decoder decoder(small_config(encoding), 1, type);
  shake(decoder);
  const Batch batch = random_batch({1, 9, 2, 30, 17}, 4);
  const StepDropout dropout{0.2, 77};

  const at::Tensor plain = plain_loss(decoder, batch, dropout);
  plain.backward();
  const at::Tensor expected = decoder.parameters().gradients().clone();
  decoder.parameters().gradients().zero_();

  CpuEngine engine(decoder);
  const TargetScores scores =
      engine.accumulate_gradients(batch, dropout, 1.0 / static_cast<double>(batch.target_count()));
  EXPECT_NEAR(scores.losses.mean().item<double>(), plain.item<double>(), tolerance * std::abs(plain.item<double>()));
  for (const Parameter& parameter : decoder.parameters().all()) {
    const at::Tensor wanted =
        expected.narrow(0, parameter.gradient.storage_offset(), parameter.numel()).view(parameter.shape);
    const double size = std::max(1e-3, wanted.abs().max().item<double>());
    EXPECT_LE((parameter.gradient - wanted).abs().max().item<double>(), tolerance * size) << parameter.name;
    EXPECT_GT(wanted.abs().max().item<double>(), 0) << parameter.name << " has no gradient";
  }
  const at::Tensor logits = plain_logits(decoder, batch);
  EXPECT_TRUE(at::equal(engine.score(batch).best, logits.argmax(-1)));
}

TEST_P(EveryEncoding, EngineEqualsPlainDecoderInDouble) {
  compare(GetParam(), at::kDouble, 1e-10);
}

TEST_P(EveryEncoding, EngineEqualsPlainDecoderInFloat) {
  compare(GetParam(), at::kFloat, 1e-4);
}

/// Where both round alike only the order of sums is left, which now and then moves a number to its other neighbour.
TEST_P(EveryEncoding, EngineEqualsPlainDecoderInBf16) {
  Decoder decoder(small_config(GetParam()), 1, at::kFloat);
  const Batch batch = random_batch({1, 9, 2, 30, 17}, 4);
  const StepDropout none;
  const at::Tensor plain = plain_loss(decoder, batch, none, Arithmetic::bf16);
  plain.backward();
  const at::Tensor expected = decoder.parameters().gradients().clone();
  decoder.parameters().gradients().zero_();
  CpuEngine engine(decoder, Arithmetic::bf16);
  const TargetScores scores = engine.accumulate_gradients(batch, none, 1.0 / static_cast<double>(batch.target_count()));
  EXPECT_NEAR(scores.losses.mean().item<double>(), plain.item<double>(), 2e-3 * plain.item<double>());
  for (const Parameter& parameter : decoder.parameters().all()) {
    const at::Tensor wanted =
        expected.narrow(0, parameter.gradient.storage_offset(), parameter.numel()).view(parameter.shape);
    const double difference = (parameter.gradient - wanted).norm().item<double>();
    EXPECT_LE(difference, 0.01 * wanted.norm().item<double>()) << parameter.name;
  }
}

TEST_P(EveryEncoding, GradientsMatchFiniteDifferences) {
  Decoder decoder(small_config(GetParam()), 2, at::kDouble);
  shake(decoder);
  const Batch batch = random_batch({3, 11}, 5);
  CpuEngine engine(decoder);
  const double weight = 1.0 / static_cast<double>(batch.target_count());
  engine.accumulate_gradients(batch, {}, weight);
  const at::Tensor gradients = decoder.parameters().gradients().clone();
  const auto loss = [&] { return engine.score(batch).losses.mean().item<double>(); };
  at::Tensor values = decoder.parameters().values();
  Rng rng = Rng(9).stream(GetParam());
  for (const Parameter& parameter : decoder.parameters().all()) {
    const int64_t begin = parameter.value.storage_offset();
    for (int probe = 0; probe < 4; ++probe) {
      // The element with the largest gradient, then random ones.
      const at::Tensor part = gradients.narrow(0, begin, parameter.numel());
      const int64_t at =
          begin + (probe == 0 ? part.abs().argmax().item<int64_t>() : rng.between(0, parameter.numel() - 1));
      constexpr double kStep = 1e-5;
      auto* data = values.data_ptr<double>();
      const double kept = data[at];
      data[at] = kept + kStep;
      const double above = loss();
      data[at] = kept - kStep;
      const double below = loss();
      data[at] = kept;
      const double analytic = gradients[at].item<double>();
      EXPECT_NEAR((above - below) / (2 * kStep), analytic, 1e-6 + 1e-5 * std::abs(analytic))
          << parameter.name << " " << at;
    }
  }
}

TEST_P(EveryEncoding, IsCausal) {
  Decoder decoder(small_config(GetParam()), 3, at::kDouble);
  shake(decoder);
  Batch batch = random_batch({20}, 6);
  batch.loss_rows = at::arange(20, at::kLong);
  batch.targets = at::zeros({20}, at::kLong);
  const at::Tensor before = plain_logits(decoder, batch).detach().clone();
  for (const int64_t changed : {19, 12, 1}) {
    Batch other = batch;
    other.tokens = batch.tokens.clone();
    other.tokens[changed] = (batch.tokens[changed].item<int64_t>() + 1) % 23;
    const at::Tensor after = plain_logits(decoder, other).detach();
    EXPECT_TRUE(at::equal(before.narrow(0, 0, changed), after.narrow(0, 0, changed))) << changed;
    EXPECT_FALSE(at::allclose(before[changed], after[changed])) << changed;
  }
}

TEST_P(EveryEncoding, DoesNotDependOnItsNeighboursInTheBatch) {
  Decoder decoder(small_config(GetParam()), 4, at::kDouble);
  shake(decoder);
  CpuEngine engine(decoder);
  const Batch both = random_batch({13, 21, 6}, 7);
  const at::Tensor packed = engine.score(both).losses.clone();
  int64_t at = 0;
  for (int64_t s = 0; s < 3; ++s) {
    const int64_t begin = both.offsets[s].item<int64_t>();
    const int64_t length = both.offsets[s + 1].item<int64_t>() - begin;
    const int64_t first = both.target_offsets[s].item<int64_t>();
    const int64_t count = both.target_offsets[s + 1].item<int64_t>() - first;
    Batch one;
    one.tokens = both.tokens.narrow(0, begin, length);
    one.positions = both.positions.narrow(0, begin, length);
    one.offsets = at::tensor({int64_t{0}, length}, at::kLong);
    one.loss_rows = both.loss_rows.narrow(0, first, count) - begin;
    one.targets = both.targets.narrow(0, first, count);
    one.target_offsets = at::tensor({int64_t{0}, count}, at::kLong);
    one.longest = length;
    EXPECT_TRUE(at::allclose(engine.score(one).losses, packed.narrow(0, at, count), 1e-12, 1e-12)) << s;
    at += count;
  }
}

TEST_P(EveryEncoding, IsTheSameWhenPositionsAreKnownToStartAtZero) {
  Decoder decoder(small_config(GetParam()), 5, at::kDouble);
  shake(decoder);
  Batch batch = random_batch({15, 1, 8}, 8);
  const auto gradients = [&] {
    decoder.parameters().gradients().zero_();
    plain_loss(decoder, batch, {0.2, 77}).backward();
    return decoder.parameters().gradients().clone();
  };
  const at::Tensor not_known = gradients();
  batch.from_zero = true;
  const at::Tensor known = gradients();
  EXPECT_LE((known - not_known).abs().max().item<double>(), 1e-11 * not_known.abs().max().item<double>());
}

TEST_P(EveryEncoding, IsTranslationInvariantIfItSaysSo) {
  Decoder decoder(small_config(GetParam()), 5, at::kDouble);
  shake(decoder);
  // Longer than windows are by default and, where there are positions, beyond all that are trained.
  const int64_t start = decoder.encoding().position_limit() ? 57 : 3001;
  const at::Tensor here = plain_logits(decoder, random_batch({33, 8}, 8)).detach();
  const at::Tensor there = plain_logits(decoder, random_batch({33, 8}, 8, start)).detach();
  EXPECT_EQ(at::allclose(here, there, 1e-9, 1e-9), decoder.encoding_info().translation_invariant);
}

TEST_P(EveryEncoding, NamesItselfAsTheRegistryDoes) {
  const EncodingInfo info = find_encoding(GetParam()).info;
  EXPECT_EQ(info.name, GetParam());
  EXPECT_FALSE(info.formula.empty());
  EXPECT_FALSE(info.paper.empty());
  EXPECT_FALSE(info.learned.empty());
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryEncoding, testing::ValuesIn(encoding_names()), [](const auto& instance) {
  std::string name = instance.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(Decoder, HasThePapersNumberOfParameters) {
  ModelConfig config;
  config.model = "base";
  config.vocab_rows = 32100;
  config.encoding = "t5";
  const Decoder decoder(resolve(config, 100), 1);
  EXPECT_EQ(decoder.parameters().count(), 109'607'040);
}

TEST(Decoder, StartsAsT5Does) {
  ModelConfig config;
  config.layers = 1;
  config.width = 256;
  config.heads = 4;
  config.encoding = "t5";
  const Decoder decoder(resolve(config, 500), 1);
  const auto deviation = [](const at::Tensor& x) { return x.std().item<double>(); };
  const at::Tensor& qkv = decoder.layer(0).qkv->value;
  EXPECT_NEAR(deviation(qkv.narrow(1, 0, 256)), 1 / std::sqrt(256.0 * 64), 1e-4);
  EXPECT_NEAR(deviation(qkv.narrow(1, 256, 512)), 1 / std::sqrt(256.0), 1e-3);
  EXPECT_NEAR(deviation(decoder.layer(0).out->value), 1 / std::sqrt(256.0), 1e-3);
  EXPECT_NEAR(deviation(decoder.layer(0).ff_in->value), 1 / std::sqrt(256.0), 1e-3);
  EXPECT_NEAR(deviation(decoder.layer(0).ff_out->value), 1 / std::sqrt(1024.0), 1e-3);
  EXPECT_NEAR(deviation(decoder.embedding().value), 1, 0.01);
  EXPECT_EQ(decoder.final_gain().value.min().item<double>(), 1);
}

}  // namespace
}  // namespace lengthwise
