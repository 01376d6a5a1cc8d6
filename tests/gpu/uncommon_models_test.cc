// Models out of the ordinary: tables of biases in some layers only, values that are drawn anew in every step, gains of
// 0.
#include "infer/teacher_forcing.h"
#include "model/cpu_engine.h"
#include "tests/gpu/gpu_run.h"
#include "tests/model/noisy_encoding.h"
#include "tests/model/uneven_encoding.h"

namespace lengthwise {
namespace {

using namespace testing_gpu;
using testing_model::make_noisy;
using testing_model::make_uneven;

class GpuUncommonModels : public GpuTest {};

TrainConfig deep_run(const std::string& precision, int64_t layers) {
  TrainConfig config = small_run("nope", precision);
  config.model.layers = layers;
  return config;
}

TEST_F(GpuUncommonModels, TablesOfEveryLayerLearnAsOnTheCpu) {
  for (const int64_t layers : {2, 3, 6}) {
    SCOPED_TRACE(layers);
    const TrainConfig config = deep_run("fp32", layers);
    const Trained cpu = train_steps(config, at::kCPU, 12, nullptr, 0, make_uneven);
    const Trained gpu = train_steps(config, at::kCUDA, 12, nullptr, 0, make_uneven);
    expect_near(gpu.losses, cpu.losses, 1e-4, "loss");
    expect_near(gpu.norms, cpu.norms, 1e-3, "norm");
    EXPECT_LT((gpu.first - cpu.first).norm().item<double>(), 1e-3 * cpu.first.norm().item<double>());
    const Trained rounded = train_steps(deep_run("bf16", layers), at::kCUDA, 12, nullptr, 0, make_uneven);
    expect_near(rounded.losses, cpu.losses, 1e-2, "loss in bf16");
  }
}

TEST_F(GpuUncommonModels, ScoresAndGeneratesAsOnTheCpu) {
  const TrainConfig config = deep_run("fp32", 6);
  Decoder on_cpu(config.model, 5, at::kFloat, at::kCPU, make_uneven);
  Decoder on_gpu(config.model, 5, at::kFloat, at::kCUDA, make_uneven);
  const TokenSet& set = sorting().test;
  CpuEngine engine(on_cpu);
  const auto expected = score_examples(engine, set, all_examples(set));
  const auto scores = score_examples(*make_gpu_scorer(on_gpu, "fp32"), set, all_examples(set));
  for (size_t i = 0; i < scores.size(); ++i) EXPECT_NEAR(scores[i].loss, expected[i].loss, 1e-4 * expected[i].loss);
  std::vector<std::vector<int32_t>> prompts;
  for (int64_t i = 0; i < 20; ++i) prompts.emplace_back(set.prompt(i).begin(), set.prompt(i).end());
  EXPECT_EQ(gpu_generate_greedy(on_gpu, prompts, {.max_total_tokens = 60}),
            generate_greedy(on_cpu, prompts, {.max_total_tokens = 60}));
}

// Twelve steps are launched, captured and replayed: what is drawn must be each step's own, and the CPU's.
TEST_F(GpuUncommonModels, RandomValuesAreTheCpusInEveryStep) {
  const TrainConfig config = deep_run("fp32", 3);
  const Trained cpu = train_steps(config, at::kCPU, 12, nullptr, 0, make_noisy);
  const Trained gpu = train_steps(config, at::kCUDA, 12, nullptr, 0, make_noisy);
  expect_near(gpu.losses, cpu.losses, 1e-4, "loss");
  expect_near(gpu.norms, cpu.norms, 1e-3, "norm");
  const TrainConfig rounded = deep_run("bf16", 3);
  const Trained once = train_steps(rounded, at::kCUDA, 30, nullptr, 0, make_noisy);
  const Trained half = train_steps(rounded, at::kCUDA, 11, nullptr, 0, make_noisy);
  EXPECT_TRUE(at::equal(train_steps(rounded, at::kCUDA, 19, &half, 11, make_noisy).values, once.values));
}

/// The beginning of a run from weights with gains of 0: in every third column of all norms, and all of one norm.
Trained with_small_gains(const TrainConfig& config, bool one_whole) {
  const Decoder decoder(config.model, static_cast<uint64_t>(config.seed));
  at::NoGradGuard no_grad;
  for (int64_t layer = 0; layer < config.model.layers; ++layer) {
    for (const Parameter* gain : {decoder.layer(layer).attention_gain, decoder.layer(layer).ff_gain}) {
      gain->value.slice(0, 0, std::nullopt, 3).zero_();
      gain->value.slice(0, 1, std::nullopt, 6).mul_(-1);
    }
  }
  if (one_whole) decoder.layer(1).ff_gain->value.zero_();
  Trained start;
  start.values = decoder.parameters().values().detach().clone();
  start.first = at::zeros_like(start.values);
  start.second = at::zeros_like(start.values);
  return start;
}

TEST_F(GpuUncommonModels, GainsOfZeroLearnAsOnTheCpu) {
  const TrainConfig config = small_run("rope", "fp32");
  const Trained start = with_small_gains(config, true);
  const Trained cpu = train_steps(config, at::kCPU, 1, &start);
  const Trained gpu = train_steps(config, at::kCUDA, 1, &start);
  EXPECT_LT((gpu.first - cpu.first).norm().item<double>(), 1e-4 * cpu.first.norm().item<double>());
  const Decoder decoder(config.model, 1);
  for (int64_t layer = 0; layer < config.model.layers; ++layer) {
    for (const Parameter* gain : {decoder.layer(layer).attention_gain, decoder.layer(layer).ff_gain}) {
      const auto of = [&](const at::Tensor& arena) {
        return arena.narrow(0, gain->value.storage_offset(), gain->numel());
      };
      const double size = of(cpu.first).norm().item<double>();
      EXPECT_LE((of(gpu.first) - of(cpu.first)).norm().item<double>(), 1e-3 * size + 1e-9) << gain->name;
    }
  }
  const Trained longer_cpu = train_steps(config, at::kCPU, 12, &start);
  expect_near(train_steps(config, at::kCUDA, 12, &start).losses, longer_cpu.losses, 1e-3, "loss");
  const TrainConfig rounded = small_run("rope", "bf16");
  expect_near(train_steps(rounded, at::kCUDA, 12, &start).losses, longer_cpu.losses, 2e-2, "loss in bf16");
}

// These gains leave 0 in the first step, and what is resumed no longer keeps anything for their sake.
TEST_F(GpuUncommonModels, ARunFromGainsOfZeroResumesInTheSameBits) {
  const TrainConfig config = small_run("t5", "bf16");
  const Trained start = with_small_gains(config, false);
  const Trained whole = train_steps(config, at::kCUDA, 12, &start);
  const Trained half = train_steps(config, at::kCUDA, 5, &start);
  EXPECT_TRUE(at::equal(train_steps(config, at::kCUDA, 7, &half, 5).values, whole.values));
}

}  // namespace
}  // namespace lengthwise
