#include "model/model_config.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace lengthwise {
namespace {

std::string mistake(const ModelConfig& config, int64_t vocabulary_size) {
  try {
    resolve(config, vocabulary_size);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(ModelConfig, RefusesDropoutThatSixteenBitsCannotDraw) {
  ModelConfig config;
  config.dropout = 0.999;
  EXPECT_EQ(mistake(config, 10), "");
  config.dropout = 0.99999;
  EXPECT_EQ(mistake(config, 10), "--dropout must be at most 0.999, not 0.99999");
  config.dropout = 1;
  EXPECT_EQ(mistake(config, 10), "--dropout must be at most 0.999, not 1");
}

TEST(ModelConfig, RefusesFewerRowsThanTokens) {
  ModelConfig config;
  config.vocab_rows = 9;
  EXPECT_EQ(mistake(config, 10), "--vocab-rows 9 is fewer than the 10 tokens of the vocabulary");
}

}  // namespace
}  // namespace lengthwise
