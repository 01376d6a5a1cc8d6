// Models without a seed, whose weights come from elsewhere.
#include <gtest/gtest.h>

#include "model/architectures.h"
#include "model/plain_decoder.h"
#include "tests/model/test_model.h"

namespace lengthwise {
namespace {

using namespace testing_model;

ModelConfig recurrent(const char* architecture) {
  ModelConfig config;
  config.architecture = architecture;
  config.layers = 2;
  config.hidden = 12;
  config.width = 8;
  return resolve(config, 23);
}

TEST(SeedlessModels, AreZerosUntilTheyAreGivenTheValuesOfOthers) {
  std::vector<ModelConfig> configs{recurrent("lstm"), recurrent("rnn")};
  for (const std::string& encoding : encoding_names()) configs.push_back(small_config(encoding));
  for (const ModelConfig& config : configs) {
    SCOPED_TRACE(config.is_decoder() ? config.encoding : config.architecture);
    const auto drawn = make_model(config, 3, at::kDouble);
    const auto model = make_model(config, std::nullopt, at::kDouble);
    EXPECT_EQ(model->parameters().values().count_nonzero().item<int64_t>(), 0);
    EXPECT_GT(drawn->parameters().values().count_nonzero().item<int64_t>(), 0);
    model->parameters().values().copy_(drawn->parameters().values());
    for (size_t i = 0; i < drawn->parameters().all().size(); ++i) {
      const Parameter& own = model->parameters().all()[i];
      EXPECT_TRUE(at::equal(own.value, drawn->parameters().all()[i].value)) << own.name;
      EXPECT_TRUE(own.value.requires_grad()) << own.name;
    }
  }
}

TEST(SeedlessModels, ComputeWhatTheOthersDo) {
  const Batch batch = random_batch({9, 4}, 2);
  for (const char* encoding : {"t5", "fire", "learned"}) {
    const Decoder drawn(small_config(encoding), 3, at::kDouble);
    Decoder decoder(small_config(encoding), std::nullopt, at::kDouble);
    decoder.parameters().values().copy_(drawn.parameters().values());
    EXPECT_TRUE(at::equal(plain_logits(decoder, batch), plain_logits(drawn, batch))) << encoding;
  }
}

}  // namespace
}  // namespace lengthwise
