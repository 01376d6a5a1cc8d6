// Sums and mixtures by layer: fused against plain where they are fused, and what they are made of.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "model/cpu_engine.h"
#include "model/plain_decoder.h"
#include "tests/model/test_model.h"

namespace lengthwise {
namespace {

using namespace testing_model;

ModelConfig deep(const std::string& encoding, int64_t layers = 5) {
  ModelConfig config = small_config("nope");
  config.layers = layers;
  config.encoding = encoding;
  return resolve(config, 23);
}

at::Tensor gradients_of(Decoder& decoder, const Batch& batch, bool engine) {
  const StepDropout dropout{0.1, 7};
  decoder.parameters().gradients().zero_();
  if (engine) {
    CpuEngine(decoder).accumulate_gradients(batch, dropout, 1.0 / static_cast<double>(batch.target_count()));
  } else {
    plain_loss(decoder, batch, dropout).backward();
  }
  return decoder.parameters().gradients().clone();
}

class Mixtures : public testing::TestWithParam<std::string> {};

TEST_P(Mixtures, AreTheSameInTheEngineAndInThePlainDecoder) {
  Decoder decoder(deep(GetParam()), 3, at::kDouble);
  shake(decoder);
  const Batch batch = random_batch({1, 9, 30, 17}, 5);
  const at::Tensor plain = gradients_of(decoder, batch, false);
  EXPECT_TRUE(at::allclose(gradients_of(decoder, batch, true), plain, 1e-8, 1e-10));
  EXPECT_GT(plain.abs().max().item<double>(), 0);
  for (const Parameter* parameter : decoder.encoding_parameters()) {
    EXPECT_GT(parameter->gradient.abs().max().item<double>(), 0) << parameter->name;
  }
}

INSTANTIATE_TEST_SUITE_P(Texts, Mixtures,
                         testing::Values("layers(rope,nope)", "layers(t5,t5)", "layers(rope,t5,nope,alibi)",
                                         "rope+alibi", "layers(rope(fraction=1),rope(base=100))", "sinusoidal+t5",
                                         "rope+window(size=5)", "layers(transformer-xl,nope)", "drope(t5)",
                                         "drope(rope)+alibi", "layers(drope(rope),t5)", "layers(tape,t5)", "tape+alibi",
                                         "layers(tape,tape+t5)", "bam+ssmax(of=all)", "rope+fox", "fox+cable"));

// One decay is added up by a kernel; of two, autograd follows what they state.
TEST(MixtureDecays, AreFusedAloneAndTogether) {
  for (const char* encoding : {"fox", "rope+fox", "fox+cable"}) {
    const Decoder decoder(deep(encoding), 3);
    EXPECT_TRUE(decoder.fused()) << encoding;
    EXPECT_EQ(decoder.encoding().decay(0).has_value(), std::string(encoding) != "fox+cable") << encoding;
  }
}

TEST(MixtureLayers, HaveTheEncodingOfTheirPlace) {
  // A mixture of one kind is that kind.
  const Batch batch = random_batch({11, 4}, 2);
  Decoder rope(deep("rope(fraction=0.5)"), 3, at::kDouble);
  Decoder twice(deep("layers(rope(fraction=0.5),rope(fraction=0.5))"), 3, at::kDouble);
  EXPECT_TRUE(at::allclose(plain_logits(rope, batch), plain_logits(twice, batch), 0, 1e-12));
  // In a decoder of one layer the second place is not used; in one of two it is.
  Decoder alone(deep("layers(nope,alibi)", 2), 3, at::kDouble);
  Decoder none(deep("nope", 2), 3, at::kDouble);
  EXPECT_FALSE(at::allclose(plain_logits(alone, batch), plain_logits(none, batch), 0, 1e-6));
}

TEST(MixtureLayers, ShareWhatAnEncodingSharesInItsOwnLayersAlone) {
  EXPECT_EQ(Decoder(deep("layers(t5,t5)"), 1).encoding_parameters().size(), 2U);
  EXPECT_EQ(Decoder(deep("layers(t5,nope)"), 1).encoding_parameters().size(), 1U);
  EXPECT_EQ(Decoder(deep("layers(transformer-xl,nope)"), 1).encoding_parameters().size(), 9U) << "three layers of five";
}

TEST(MixtureLayers, HaveNothingThatIsAddedInFrontOfThem) {
  for (const char* adds : {"sinusoidal", "learned", "abacus", "randomized(sinusoidal)", "rope+sinusoidal"}) {
    try {
      deep(fmt::format("layers(nope,{})", adds));
      ADD_FAILURE() << adds << " was not refused";
    } catch (const UserError& error) {
      EXPECT_EQ(error.what(), fmt::format("layers(...): {} adds to the embeddings, in front of all layers", adds));
    }
  }
}

TEST(Sums, AddWhatTheirPartsState) {
  const Batch batch = random_batch({11, 4}, 2);
  Decoder both(deep("rope+alibi"), 3, at::kDouble);
  Decoder turned(deep("rope"), 3, at::kDouble);
  EncodingContext context;
  context.positions = at::arange(9);
  context.distances = 9;
  const LayerValues values = both.encoding().layer(0, context);
  EXPECT_TRUE(values.table.defined() && values.query.cos.defined());
  EXPECT_TRUE(at::equal(values.query.cos, turned.encoding().layer(0, context).query.cos));
  EXPECT_THROW(deep("rope+transformer-xl+learned+window(size=0)"), UserError);
}

TEST(Windows, HideWhatIsFar) {
  Decoder decoder(deep("window(size=4)", 1), 3, at::kDouble);
  const Batch one = random_batch({12}, 2);
  Batch other = random_batch({12}, 2);
  other.tokens = one.tokens.clone();
  other.tokens[7] = (one.tokens[7] + 1) % 23;  // four before the last
  const at::Tensor before = plain_logits(decoder, one);
  const at::Tensor after = plain_logits(decoder, other);
  EXPECT_TRUE(at::equal(before[-1], after[-1]));
  EXPECT_FALSE(at::equal(before[-2], after[-2]));
}

}  // namespace
}  // namespace lengthwise
