#include "model/model_config.h"

#include <gtest/gtest.h>

#include "tests/data/temporary_folder.h"

namespace lengthwise {
namespace {

TEST(ModelConfig, RefusesDropoutThatSixteenBitsCannotDraw) {
  ModelConfig config;
  config.dropout = 0.999;
  EXPECT_EQ(mistake_of([&] { resolve(config, 10); }), "");
  config.dropout = 0.99999;
  EXPECT_EQ(mistake_of([&] { resolve(config, 10); }), "--dropout must be at most 0.999, not 0.99999");
  config.dropout = 1;
  EXPECT_EQ(mistake_of([&] { resolve(config, 10); }), "--dropout must be at most 0.999, not 1");
}

TEST(ModelConfig, RefusesFewerRowsThanTokens) {
  ModelConfig config;
  config.vocab_rows = 9;
  EXPECT_EQ(mistake_of([&] { resolve(config, 10); }), "--vocab-rows 9 is fewer than the 10 tokens of the vocabulary");
}

}  // namespace
}  // namespace lengthwise
