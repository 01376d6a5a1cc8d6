// Encodings whose tables differ from layer to layer, and are missing in some.
#include "positional/fused_values.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "model/cpu_engine.h"
#include "model/plain_decoder.h"
#include "tests/model/test_model.h"
#include "tests/model/uneven_encoding.h"

namespace lengthwise {
namespace {

using namespace testing_model;

ModelConfig deep_config(int64_t layers) {
  ModelConfig config = small_config("nope");
  config.layers = layers;
  return config;
}

/// Of seven tokens.
FusedValues values_of(const Decoder& decoder, int64_t layers) {
  EncodingContext context;
  context.positions = at::arange(7);
  context.distances = 7;
  return fused_values(decoder.encoding(), layers, context);
}

TEST(FusedValues, KeepAPlaceForLayersWithoutATable) {
  Decoder decoder(deep_config(5), 1, at::kDouble, at::kCPU, make_uneven);
  const FusedValues values = values_of(decoder, 5);
  ASSERT_EQ(values.entries.size(), 5);
  for (const int64_t layer : {0, 3}) EXPECT_FALSE(values.of(layer).table.defined()) << layer;
  for (const int64_t layer : {1, 2, 4})
    EXPECT_EQ(values.of(layer).table.sizes(), (std::vector<int64_t>{2, 7})) << layer;
  EXPECT_TRUE(values.learns(2));
  for (const int64_t layer : {0, 1, 3, 4}) EXPECT_FALSE(values.learns(layer)) << layer;
  EXPECT_TRUE(values.any_learns());
}

TEST(FusedValues, AreOneEntryWhereAllLayersShareIt) {
  Decoder decoder(small_config("t5"), 1);
  const FusedValues values = values_of(decoder, 2);
  EXPECT_EQ(values.entries.size(), 1);
  EXPECT_TRUE(values.of(1).table.is_same(values.of(0).table));
  EXPECT_TRUE(values.learns(1));
}

// One, two or three layers: the first table and the first that learns are then the last layer's, or not there.
TEST(FusedValues, OfEveryLayerReachItsOwnAttentionAndParameters) {
  for (const int64_t layers : {1, 2, 3, 6}) {
    SCOPED_TRACE(layers);
    Decoder decoder(deep_config(layers), 1, at::kDouble, at::kCPU, make_uneven);
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
    EXPECT_NEAR(scores.losses.mean().item<double>(), plain.item<double>(), 1e-10);
    EXPECT_TRUE(at::allclose(decoder.parameters().gradients(), expected, 1e-8, 1e-10));
    for (const Parameter* parameter : decoder.encoding_parameters()) {
      EXPECT_GT(parameter->gradient.abs().min().item<double>(), 0) << parameter->name;
    }
    EXPECT_TRUE(at::equal(engine.score(batch).best, plain_logits(decoder, batch).argmax(-1)));
  }
}

}  // namespace
}  // namespace lengthwise
