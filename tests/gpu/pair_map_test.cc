// Heads of 64 dims and sequences of more than one tile: what these share of biases of pairs comes from a map
// (gpu_kernels/pair_map.cuh).
#include "tests/gpu/gpu_run.h"

namespace lengthwise {
namespace {

using namespace testing_gpu;

class GpuPairMap : public GpuTest {};

/// 72 to 92 tokens each.
const TokenSet& long_sequences() {
  static const DataSet data = sorting_up_to({30, 40});
  return data.test;
}

TrainConfig wide_heads(const std::string& encoding, const std::string& precision) {
  TrainConfig config = small_run(encoding, precision);
  config.model.width = 128;
  config.model.heads = 2;
  config.model.head_dim = 64;
  config.epsilon = 1e-4;  // see GpuLearning
  return config;
}

Trained train_on_long(const TrainConfig& config, at::Device device) {
  return train_steps(config, device, 12, nullptr, 0, nullptr, fused_learner_on(long_sequences(), device));
}

// Alone from the map, with factors of queries without it.
TEST_F(GpuPairMap, LearnsWhatTheCpuLearns) {
  for (const char* encoding : {"fire", "fire+ssmax", "layers(fire,nope)"}) {
    SCOPED_TRACE(encoding);
    const Trained cpu = train_on_long(wide_heads(encoding, "fp32"), at::kCPU);
    const Trained full = train_on_long(wide_heads(encoding, "fp32"), at::kCUDA);
    expect_near(full.losses, cpu.losses, 1e-4, "loss");
    expect_near(full.norms, cpu.norms, 1e-3, "norm");
    const Trained rounded = train_on_long(wide_heads(encoding, "bf16"), at::kCUDA);
    expect_near(rounded.losses, cpu.losses, 1e-2, "loss in bf16");
    expect_near(rounded.norms, cpu.norms, 3e-2, "norm in bf16");
    const Trained again = train_on_long(wide_heads(encoding, "bf16"), at::kCUDA);
    EXPECT_TRUE(at::equal(again.values, rounded.values));
  }
}

}  // namespace
}  // namespace lengthwise
