// Batches in which every token is a target, as in text: the same numbers as on the CPU, without rows to pick.
#include "gpu/buckets.h"
#include "infer/teacher_forcing.h"
#include "model/cpu_engine.h"
#include "tests/gpu/gpu_run.h"

namespace lengthwise {
namespace {

using namespace testing_gpu;

class GpuEveryToken : public GpuTest {};

/// Sorting problems whose prompts are to be written as well.
const TokenSet& whole_sequences() {
  static const TokenSet set = [] {
    TokenSet whole = sorting().train;
    std::fill(whole.prompt_tokens.begin(), whole.prompt_tokens.end(), 1);
    return whole;
  }();
  return set;
}

Trained train_on_all(const TrainConfig& config, at::Device device, int64_t steps) {
  return train_steps(config, device, steps, nullptr, 0, nullptr, fused_learner_on(whole_sequences(), device));
}

TEST_F(GpuEveryToken, IsKnownFromTheNumbers) {
  for (const int64_t tokens : {1, 300, 2100, 4097, 9000, 32768}) {
    const PassShape all = bucket_of(4, tokens, tokens, 100);
    EXPECT_TRUE(all.every_token);
    EXPECT_EQ(all.targets, all.tokens);
    EXPECT_FALSE(bucket_of(4, tokens, tokens - 1, 100).every_token);
  }
}

TEST_F(GpuEveryToken, LearnsWhatTheCpuLearns) {
  for (const char* encoding : {"nope", "t5", "rope", "learned", "fox", "ssmax"}) {
    SCOPED_TRACE(encoding);
    TrainConfig config = small_run(encoding, "fp32");
    config.epsilon = 1e-4;  // see GpuLearning
    const Trained cpu = train_on_all(config, at::kCPU, 12);
    const Trained gpu = train_on_all(config, at::kCUDA, 12);
    expect_near(gpu.losses, cpu.losses, 1e-4, "loss");
    expect_near(gpu.norms, cpu.norms, 1e-3, "norm");
    EXPECT_LT((gpu.first - cpu.first).norm().item<double>() / cpu.first.norm().item<double>(), 2e-2);
    config.precision = "bf16";
    const Trained rounded = train_on_all(config, at::kCUDA, 12);
    expect_near(rounded.losses, gpu.losses, 1e-2, "loss in bf16");
    expect_near(rounded.norms, gpu.norms, 3e-2, "norm in bf16");
  }
}

TEST_F(GpuEveryToken, ScoresAsOnTheCpu) {
  const TrainConfig config = small_run("rope", "fp32");
  Decoder on_cpu(config.model, 5);
  Decoder on_gpu(config.model, 5, at::kFloat, at::kCUDA);
  CpuEngine engine(on_cpu);
  const std::unique_ptr<Scorer> scorer = make_gpu_scorer(on_gpu, "fp32");
  const auto expected = score_examples(engine, whole_sequences(), all_examples(whole_sequences()));
  const auto scores = score_examples(*scorer, whole_sequences(), all_examples(whole_sequences()));
  ASSERT_EQ(scores.size(), expected.size());
  for (size_t i = 0; i < scores.size(); ++i) EXPECT_NEAR(scores[i].loss, expected[i].loss, 1e-4 * expected[i].loss);
}

}  // namespace
}  // namespace lengthwise
