// Every encoding on the GPU, by fused kernels or by plain tensor operations, whichever applies it: trained as on the
// CPU.
#include "eval/engines.h"
#include "infer/teacher_forcing.h"
#include "tests/gpu/gpu_run.h"

namespace lengthwise {
namespace {

using namespace testing_gpu;

std::vector<std::string> all_encodings() {
  std::vector<std::string> names = encoding_names();
  for (const char* mixture : {"layers(t5,t5)", "layers(rope,t5,nope)", "alibi+ssmax", "rope+window(size=7)", "rope+fox",
                              "randomized(t5)", "randomized(rope)", "random-float(alibi)"})
    names.emplace_back(mixture);
  return names;
}

class GpuEveryEncoding : public GpuTest, public testing::WithParamInterface<std::string> {};

TEST_P(GpuEveryEncoding, LearnsForFiftySteps) {
  const TrainConfig config = small_run(GetParam(), "fp32");
  const Trained cpu = train_steps(config, at::kCPU, 3);
  const Trained gpu = train_steps(config, at::kCUDA, 50, nullptr, 0, nullptr, make_learner);
  for (size_t step = 0; step < 3; ++step) EXPECT_NEAR(gpu.losses[step], cpu.losses[step], 1e-3 * cpu.losses[step]);
  EXPECT_LT(gpu.losses.back(), gpu.losses.front());
  const Trained again = train_steps(config, at::kCUDA, 10, nullptr, 0, nullptr, make_learner);
  EXPECT_EQ(std::vector<double>(gpu.losses.begin(), gpu.losses.begin() + 10), again.losses);
}

TEST_P(GpuEveryEncoding, ScoresAsTheCpu) {
  const TrainConfig config = small_run(GetParam(), "fp32");
  Decoder on_cpu(config.model, 5);
  Decoder on_gpu(config.model, 5, at::kFloat, at::kCUDA);
  const TokenSet& set = sorting().test;
  const std::vector<int64_t> some{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  const auto expected = score_examples(*make_scorer(on_cpu, "fp32"), set, some);
  const auto scores = score_examples(*make_scorer(on_gpu, "fp32"), set, some);
  for (size_t i = 0; i < some.size(); ++i) EXPECT_NEAR(scores[i].loss, expected[i].loss, 1e-4 * expected[i].loss);
}

INSTANTIATE_TEST_SUITE_P(Registry, GpuEveryEncoding, testing::ValuesIn(all_encodings()), [](const auto& test) {
  std::string name = test.param;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
});

}  // namespace
}  // namespace lengthwise
