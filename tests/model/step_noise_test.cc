// Encodings whose values are drawn anew in every training step.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "model/cpu_engine.h"
#include "model/plain_decoder.h"
#include "tests/model/noisy_encoding.h"
#include "tests/model/test_model.h"

namespace lengthwise {
namespace {

using namespace testing_model;

class RandomValues : public testing::Test {
 protected:
  RandomValues() : decoder_(small_config("nope"), 1, at::kDouble, at::kCPU, make_noisy), engine_(decoder_) {
    shake(decoder_);
  }

  /// Losses of one step of the fused engine; its gradients are left in the arena.
  at::Tensor step(const StepDropout& dropout) {
    decoder_.parameters().gradients().zero_();
    return engine_.accumulate_gradients(batch_, dropout, 1.0 / static_cast<double>(batch_.target_count()))
        .losses.clone();
  }

  Decoder decoder_;
  CpuEngine engine_;
  Batch batch_ = random_batch({1, 9, 2, 30, 17}, 4);
};

TEST_F(RandomValues, DifferFromStepToStepAndAreTheSeeds) {
  for (const double probability : {0.0, 0.2}) {
    const at::Tensor one = step({probability, 77});
    EXPECT_FALSE(at::allclose(step({probability, 78}), one)) << probability;
    EXPECT_TRUE(at::equal(step({probability, 77}), one)) << probability;
  }
}

TEST_F(RandomValues, AreTheSameInTheFusedEngineAndThePlainDecoder) {
  const StepDropout dropout{0.2, 77};
  const at::Tensor fused = step(dropout).mean();
  const at::Tensor gradients = decoder_.parameters().gradients().clone();
  decoder_.parameters().gradients().zero_();
  const at::Tensor plain = plain_loss(decoder_, batch_, dropout);
  plain.backward();
  EXPECT_NEAR(fused.item<double>(), plain.item<double>(), 1e-10);
  EXPECT_TRUE(at::allclose(gradients, decoder_.parameters().gradients(), 1e-8, 1e-10));
}

TEST_F(RandomValues, AreNotDrawnOutsideTraining) {
  const at::Tensor before = engine_.score(batch_).losses.clone();
  step({0.2, 77});
  EXPECT_TRUE(at::equal(engine_.score(batch_).losses, before));
  EXPECT_TRUE(at::allclose(plain_loss(decoder_, batch_), before.mean(), 1e-10, 1e-10));
}

}  // namespace
}  // namespace lengthwise
