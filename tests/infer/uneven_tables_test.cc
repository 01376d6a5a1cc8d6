// Generation with an encoding whose tables differ from layer to layer: the fused engine against plain operations.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "data/vocabulary.h"
#include "infer/greedy.h"
#include "infer/steady_greedy.h"
#include "tests/model/test_model.h"
#include "tests/model/uneven_encoding.h"

namespace lengthwise {
namespace {

TEST(UnevenTables, ArePartOfWhatIsGenerated) {
  ModelConfig config = testing_model::small_config("nope");
  config.layers = 6;
  Decoder decoder(config, 6, at::kDouble, at::kCPU, testing_model::make_uneven);
  testing_model::shake(decoder);
  std::vector<std::vector<int32_t>> prompts;
  for (int32_t i = 0; i < 12; ++i) prompts.emplace_back(static_cast<size_t>(1 + i % 5), 3 + i);
  const auto fused = generate_greedy(decoder, prompts, {.max_total_tokens = 40, .batch_size = 12});
  SteadyGreedy plain(decoder, 12, 40, {[](const std::function<void()>& body) { return body; }});
  std::vector<std::vector<int32_t>> expected(prompts.size());
  plain.generate(prompts, 40, expected);
  EXPECT_EQ(fused, expected);
  EXPECT_GT(fused.front().size(), 3u);
}

}  // namespace
}  // namespace lengthwise
