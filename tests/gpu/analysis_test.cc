// What analyses compute where the model lies, on the GPU against the CPU.
#include "analysis/head_sums.h"
#include "analysis/ridge.h"
#include "tests/gpu/gpu_run.h"

namespace lengthwise {
namespace {

using namespace testing_gpu;

class GpuAnalysis : public GpuTest {};

void expect_near(const at::Tensor& found, const at::Tensor& expected, double tolerance) {
  ASSERT_EQ(found.sizes(), expected.sizes());
  ASSERT_TRUE(found.is_cpu());
  EXPECT_LT((found - expected).abs().max().item<double>(), tolerance);
}

TEST_F(GpuAnalysis, HeadsAreSummedAsOnTheCpu) {
  const ModelConfig config = small_run("rope", "fp32").model;
  std::vector<std::vector<int64_t>> sequences(3);
  for (int64_t i = 0; i < 120; ++i) sequences[static_cast<size_t>(i) % 3].push_back(3 + i * 7 % 11);
  const auto sums_on = [&](at::Device device) { return sum_heads(Decoder(config, 5, at::kFloat, device), sequences); };
  const HeadSums expected = sums_on(at::kCPU);
  const HeadSums found = sums_on(at::kCUDA);
  for (const auto member : {&HeadSums::offsets, &HeadSums::least, &HeadSums::first, &HeadSums::near, &HeadSums::uneven,
                            &HeadSums::entropy, &HeadSums::distance, &HeadSums::survives, &HeadSums::profile}) {
    expect_near(found.*member, expected.*member, 1e-4);
  }
}

TEST_F(GpuAnalysis, LinearProbesPredictAsOnTheCpu) {
  const at::Tensor features = at::sin(at::arange(300 * 12, at::kDouble).square()).view({300, 12});
  const at::Tensor labels = at::mv(features, at::arange(12, at::kDouble)) + at::cos(at::arange(300, at::kDouble));
  const auto predicted_on = [&](at::Device device) {
    const at::Tensor x = features.to(device);
    const at::Tensor y = labels.to(device);
    const RidgeProbe probe =
        fit_ridge(x.narrow(0, 0, 200), y.narrow(0, 0, 200), x.narrow(0, 200, 50), y.narrow(0, 200, 50));
    return probe.predict(x.narrow(0, 250, 50)).cpu();
  };
  expect_near(predicted_on(at::kCUDA), predicted_on(at::kCPU), 1e-8);
}

}  // namespace
}  // namespace lengthwise
