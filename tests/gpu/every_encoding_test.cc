// Every encoding on the GPU, by fused kernels or by plain tensor operations, whichever applies it: as on the CPU.
#include "eval/engines.h"
#include "infer/teacher_forcing.h"
#include "tests/gpu/gpu_run.h"

namespace lengthwise {
namespace {

using namespace testing_gpu;

/// The registry's and some mixtures, cut into as many parts as there are processes to run them: what is slow is to
/// start one on a GPU.
constexpr size_t kParts = 6;

std::vector<std::string> part_of_all(size_t part) {
  std::vector<std::string> all = encoding_names();
  for (const char* mixture : {"layers(t5,t5)", "layers(rope,t5,nope)", "alibi+ssmax", "rope+window(size=7)", "rope+fox",
                              "layers(fox,nope)", "randomized(t5)", "randomized(rope)", "random-float(alibi)"})
    all.emplace_back(mixture);
  std::vector<std::string> names;
  for (size_t i = part; i < all.size(); i += kParts) names.push_back(all[i]);
  return names;
}

class GpuEveryEncoding : public GpuTest, public testing::WithParamInterface<size_t> {};

TEST_P(GpuEveryEncoding, LearnsForFiftySteps) {
  for (const std::string& encoding : part_of_all(GetParam())) {
    SCOPED_TRACE(encoding);
    const TrainConfig config = small_run(encoding, "fp32");
    const auto train = [&](int64_t steps) {
      return train_steps(config, at::kCUDA, steps, nullptr, 0, nullptr, make_learner);
    };
    const Trained cpu = train_steps(config, at::kCPU, 3);
    const Trained gpu = train(50);
    for (size_t step = 0; step < 3; ++step) EXPECT_NEAR(gpu.losses[step], cpu.losses[step], 1e-3 * cpu.losses[step]);
    EXPECT_LT(gpu.losses.back(), gpu.losses.front());
    EXPECT_EQ(train(10).losses, std::vector<double>(gpu.losses.begin(), gpu.losses.begin() + 10));
  }
}

TEST_P(GpuEveryEncoding, ScoresAsTheCpu) {
  for (const std::string& encoding : part_of_all(GetParam())) {
    SCOPED_TRACE(encoding);
    const TrainConfig config = small_run(encoding, "fp32");
    Decoder on_cpu(config.model, 5);
    Decoder on_gpu(config.model, 5, at::kFloat, at::kCUDA);
    const TokenSet& set = sorting().test;
    const std::vector<int64_t> some{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    const auto expected = score_examples(*make_scorer(on_cpu, "fp32"), set, some);
    const auto scores = score_examples(*make_scorer(on_gpu, "fp32"), set, some);
    for (size_t i = 0; i < some.size(); ++i) EXPECT_NEAR(scores[i].loss, expected[i].loss, 1e-4 * expected[i].loss);
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, GpuEveryEncoding, testing::Range(size_t{0}, kParts));

}  // namespace
}  // namespace lengthwise
