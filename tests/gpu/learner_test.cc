// Training on the GPU against training on the CPU: same batches, same dropout masks, same numbers.
#include <atomic>
#include <thread>

#include "eval/engines.h"
#include "infer/teacher_forcing.h"
#include "tests/gpu/gpu_run.h"

namespace lengthwise {
namespace {

using namespace testing_gpu;

class GpuLearning : public GpuTest {};

// Twelve steps: every bucket is seen more than twice, so that launching, capturing and replaying all take part.
constexpr int64_t kSteps = 12;

TEST_F(GpuLearning, LearnsWhatTheCpuLearnsWithEveryEncoding) {
  size_t turned = 0;
  const std::vector<std::string> encodings = fused_encodings();
  for (const std::string& encoding : encodings) {
    TrainConfig config = small_run(encoding, "fp32");
    // Of a gradient that is next to 0 AdamW sees the sign alone, which rounding decides; not so above an epsilon.
    config.epsilon = 1e-4;
    const Trained cpu = train_steps(config, at::kCPU, kSteps);
    const Trained gpu = train_steps(config, at::kCUDA, kSteps);
    SCOPED_TRACE(encoding);
    expect_near(gpu.losses, cpu.losses, 1e-4, "loss");
    expect_near(gpu.norms, cpu.norms, 1e-3, "norm");
    const double apart = (gpu.values - cpu.values).abs().mean().item<double>();
    EXPECT_LT(apart, 0.02 * kSteps * config.lr);
    // A rectifier whose input is next to 0 turns by rounding now and then, and the gradient jumps: by up to 1 % here,
    // on the CPU alone too, between the fused engine and the plain decoder. Without that they agree in five digits.
    const double difference = (gpu.first - cpu.first).norm().item<double>() / cpu.first.norm().item<double>();
    EXPECT_LT(difference, 2e-2);
    turned += difference > 1e-4 ? 1 : 0;
  }
  EXPECT_LE(turned, encodings.size() / 4);
}

TEST_F(GpuLearning, BeginsWithTheNumbersOfTheSeed) {
  for (const std::string& encoding : encoding_names()) {
    const ModelConfig config = resolve(small_run(encoding, "fp32").model, 40);
    const auto on_cpu = make_model(config, 5, "cpu");
    const auto on_gpu = make_model(config, 5, "cuda");
    EXPECT_TRUE(at::equal(on_gpu->parameters().values().cpu(), on_cpu->parameters().values())) << encoding;
  }
}

TEST_F(GpuLearning, Bf16AndTf32StayCloseToFullPrecision) {
  for (const std::string& encoding : fused_encodings()) {
    const Trained full = train_steps(small_run(encoding, "fp32"), at::kCUDA, kSteps);
    for (const char* precision : {"bf16", "tf32"}) {
      const Trained rounded = train_steps(small_run(encoding, precision), at::kCUDA, kSteps);
      SCOPED_TRACE(encoding + " " + precision);
      expect_near(rounded.losses, full.losses, 1e-2, "loss");
      expect_near(rounded.norms, full.norms, 3e-2, "norm");
    }
  }
}

TEST_F(GpuLearning, RandomOffsetsAreThoseOfTheCpu) {
  for (const char* encoding : {"sinusoidal", "learned", "fire"}) {
    TrainConfig config = small_run(encoding, "fp32");
    config.random_offset = 60;
    expect_near(train_steps(config, at::kCUDA, 5).losses, train_steps(config, at::kCPU, 5).losses, 1e-4, encoding);
  }
}

TEST_F(GpuLearning, GivesTheSameBitsAgain) {
  for (const char* encoding : {"t5", "learned", "rope", "fire", "fox", "randomized(t5)", "drope(rope,at=0.15)"}) {
    expect_same_bits_again(small_run(encoding, "bf16"), encoding);
  }
}

TEST_F(GpuLearning, RunsSideBySideGiveTheSameBitsAsAlone) {
  const std::vector<std::string> names = {"nope", "t5",  "alibi-learned", "rope", "learned", "randomized(rope)",
                                          "fox",  "fire"};
  std::vector<Trained> alone, together(names.size());
  for (const std::string& name : names) alone.push_back(train_steps(small_run(name, "bf16"), at::kCUDA, 60));
  std::vector<std::thread> threads;
  for (size_t i = 0; i < names.size(); ++i) {
    threads.emplace_back([&, i] {
      use_own_gpu_stream();
      together[i] = train_steps(small_run(names[i], "bf16"), at::kCUDA, 60);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_TRUE(at::equal(alone[i].values, together[i].values)) << names[i];
  }
}

// As the jobs of a study do: each thread has one run after the other, which trains, evaluates and answers.
TEST_F(GpuLearning, ManyRunsInFewThreadsKeepOutOfEachOthersWay) {
  const std::vector<std::string> names = {"rope", "nope", "sinusoidal", "t5"};
  const auto prompt = sorting().test.prompt(0);
  const std::vector<std::vector<int32_t>> prompts(3, {prompt.begin(), prompt.end()});
  const auto run = [&](const std::string& name) {
    use_own_gpu_stream();
    const TrainConfig config = small_run(name, "bf16");
    Trained trained = train_steps(config, at::kCUDA, 12);
    use_own_gpu_stream();
    Decoder decoder(config.model, 5, at::kFloat, at::kCUDA);
    const std::unique_ptr<Scorer> scorer = make_gpu_scorer(decoder, "bf16");
    score_examples(*scorer, sorting().test, all_examples(sorting().test));
    gpu_generate_greedy(decoder, prompts, {.max_total_tokens = 60});
    return trained;
  };
  std::vector<Trained> alone;
  for (const std::string& name : names) alone.push_back(run(name));
  std::vector<std::thread> threads;
  std::atomic<int> different = 0;
  for (size_t t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < 8; ++i) {
        const size_t which = (t + i) % names.size();
        if (!at::equal(run(names[which]).values, alone[which].values)) ++different;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(different, 0);
}

TEST_F(GpuLearning, SmallSetsAndLargeBatchesReachOverEpochs) {
  TrainConfig config = small_run("nope", "fp32");
  config.batch_size = 300;  // of 400 examples
  expect_near(train_steps(config, at::kCUDA, 6).losses, train_steps(config, at::kCPU, 6).losses, 1e-4, "loss");
}

TEST_F(GpuLearning, StopsAtALossThatIsNotFinite) {
  TrainConfig config = small_run("nope", "bf16");
  config.lr = 1e20;
  config.weight_decay = 0;
  Decoder decoder(config.model, 1, at::kFloat, at::kCUDA);
  TrainState state;
  state.first = at::zeros_like(decoder.parameters().values());
  state.second = at::zeros_like(decoder.parameters().values());
  const std::unique_ptr<Learner> learner = make_gpu_learner(config, sorting().train, decoder, state);
  for (int64_t step = 0; step < 8; ++step) learner->step(step);
  const StepMetrics metrics = learner->metrics();
  EXPECT_GT(metrics.not_finite, 0);
  EXPECT_TRUE(at::isfinite(decoder.parameters().values()).all().item<bool>());
}

}  // namespace
}  // namespace lengthwise
