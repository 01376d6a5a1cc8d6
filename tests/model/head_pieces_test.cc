// A vocabulary so large that the head runs in pieces: the same losses and gradients as in one.
#include "model/head_pieces.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "model/cpu_engine.h"
#include "model/plain_decoder.h"
#include "model/plain_targets.h"
#include "tests/model/test_model.h"

namespace lengthwise {
namespace {

using testing_model::random_batch;
using testing_model::small_config;

TEST(HeadPieces, CoverAllRowsWithBoundedLogits) {
  for (const int64_t vocabulary : {259, 32768, 65536}) {
    for (const int64_t rows : {1, 63, 64, 65, 5000, 100'000}) {
      int64_t next = 0;
      for_head_pieces(rows, vocabulary, [&](int64_t first, int64_t count) {
        EXPECT_EQ(first, next);
        EXPECT_GT(count, 0);
        EXPECT_LE(count * vocabulary, kHeadLogits);
        next = first + count;
      });
      EXPECT_EQ(next, rows);
    }
  }
}

TEST(HeadPieces, GiveTheLossAndGradientOfTheWhole) {
  ModelConfig config = small_config("t5");
  config.width = 16;
  config.head_dim = 8;
  config.vocab_rows = 65536;
  Decoder decoder(config, 1, at::kDouble);
  const Batch batch = random_batch({300, 200, 90}, 4);
  ASSERT_GT(batch.target_count() * config.vocab_rows, 2 * kHeadLogits);
  const StepDropout dropout{0.2, 77};
  const at::Tensor whole = plain_loss(decoder, batch, dropout);
  whole.backward();
  const at::Tensor wanted = decoder.parameters().gradients().clone();
  const double weight = 1.0 / static_cast<double>(batch.target_count());
  const auto expect_same = [&](const TargetScores& scores, const char* who) {
    EXPECT_NEAR(scores.losses.mean().item<double>(), whole.item<double>(), 1e-10) << who;
    EXPECT_LE((decoder.parameters().gradients() - wanted).abs().max().item<double>(),
              1e-10 * wanted.abs().max().item<double>())
        << who;
    decoder.parameters().gradients().zero_();
  };
  decoder.parameters().gradients().zero_();
  expect_same(plain_gradients(decoder, batch, dropout, Arithmetic::full, weight), "the plain decoder");
  CpuEngine engine(decoder);
  expect_same(engine.accumulate_gradients(batch, dropout, weight), "the engine");
  EXPECT_TRUE(at::allclose(engine.score(batch).losses, plain_scores(decoder, batch).losses, 1e-10, 1e-10));
}

}  // namespace
}  // namespace lengthwise
