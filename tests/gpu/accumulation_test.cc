// A step's batch in parts, on the GPU against the CPU: same parts, same dropout masks, same numbers.
#include "tests/gpu/gpu_run.h"

namespace lengthwise {
namespace {

using namespace testing_gpu;

class GpuAccumulation : public GpuTest {};

// Every bucket is launched, captured and replayed.
constexpr int64_t kSteps = 12;

/// `small_run` has 16 sequences a step.
TrainConfig run_in_parts(const std::string& encoding, const std::string& precision, int64_t parts) {
  TrainConfig config = small_run(encoding, precision);
  config.accumulate = parts;
  config.epsilon = 1e-4;  // of gradients next to 0 rounding decides the sign
  return config;
}

double apart(const at::Tensor& a, const at::Tensor& b) {
  return (a - b).norm().item<double>() / b.norm().item<double>();
}

TEST_F(GpuAccumulation, LearnsWhatTheCpuLearnsWithEveryEncoding) {
  size_t turned = 0;  // see GpuLearning
  const std::vector<std::string> encodings = fused_encodings();
  for (const std::string& encoding : encodings) {
    SCOPED_TRACE(encoding);
    const TrainConfig config = run_in_parts(encoding, "fp32", 3);
    const Trained cpu = train_steps(config, at::kCPU, kSteps);
    const Trained gpu = train_steps(config, at::kCUDA, kSteps);
    expect_near(gpu.losses, cpu.losses, 1e-4, "loss");
    expect_near(gpu.norms, cpu.norms, 1e-3, "norm");
    EXPECT_LT((gpu.values - cpu.values).abs().mean().item<double>(), 0.02 * kSteps * config.lr);
    const double difference = apart(gpu.first, cpu.first);
    EXPECT_LT(difference, 2e-2);
    turned += difference > 1e-4 ? 1 : 0;
  }
  EXPECT_LE(turned, encodings.size() / 4);
}

// What the fused kernels do not apply takes its parts by captured plain operations.
TEST_F(GpuAccumulation, PlainStepsLearnWhatTheCpuLearns) {
  const MakeLearner plain = [](const TrainConfig& config, const TokenSet& examples, Model& model, TrainState& state) {
    return make_plain_learner_with(config, examples, model, state,
                                   make_captured_gradients(*as_decoder(model), Arithmetic::full));
  };
  const TrainConfig config = run_in_parts("rope+cope", "fp32", 3);
  ASSERT_FALSE(runs_fused(config.model, at::kCUDA));
  const Trained cpu = train_steps(config, at::kCPU, 6);
  const Trained gpu = train_steps(config, at::kCUDA, 6, nullptr, 0, nullptr, plain);
  expect_near(gpu.losses, cpu.losses, 1e-3, "loss");
  expect_near(gpu.norms, cpu.norms, 1e-2, "norm");
}

TEST_F(GpuAccumulation, TakesAnyNumberOfParts) {
  for (const int64_t parts : {2, 5, 16}) {
    SCOPED_TRACE(parts);
    const TrainConfig config = run_in_parts("rope", "fp32", parts);
    const Trained cpu = train_steps(config, at::kCPU, 4);
    const Trained gpu = train_steps(config, at::kCUDA, 4);
    expect_near(gpu.losses, cpu.losses, 1e-4, "loss");
    expect_near(gpu.norms, cpu.norms, 1e-3, "norm");
  }
}

TEST_F(GpuAccumulation, IsTheWholeBatchWhereNothingIsDropped) {
  for (const char* precision : {"fp32", "bf16"}) {
    TrainConfig config = run_in_parts("t5", precision, 1);
    config.model.dropout = 0;
    const Trained whole = train_steps(config, at::kCUDA, 1);
    config.accumulate = 4;
    const Trained parts = train_steps(config, at::kCUDA, 1);
    const bool exact = std::string(precision) == "fp32";
    expect_near(parts.losses, whole.losses, exact ? 1e-5 : 1e-2, "loss");
    expect_near(parts.norms, whole.norms, exact ? 1e-3 : 3e-2, "norm");
    EXPECT_LT(apart(parts.first, whole.first), 3e-2) << precision;
  }
}

TEST_F(GpuAccumulation, RandomOffsetsAreThoseOfTheCpu) {
  TrainConfig config = run_in_parts("learned", "fp32", 3);
  config.random_offset = 60;
  expect_near(train_steps(config, at::kCUDA, 5).losses, train_steps(config, at::kCPU, 5).losses, 1e-4, "loss");
}

TEST_F(GpuAccumulation, PartsReachOverEpochs) {
  TrainConfig config = run_in_parts("nope", "fp32", 7);
  config.batch_size = 300;  // of 400 examples
  expect_near(train_steps(config, at::kCUDA, 6).losses, train_steps(config, at::kCPU, 6).losses, 1e-4, "loss");
}

TEST_F(GpuAccumulation, Bf16AndTf32StayCloseToFullPrecision) {
  for (const char* encoding : {"rope", "t5"}) {
    const Trained full = train_steps(run_in_parts(encoding, "fp32", 3), at::kCUDA, kSteps);
    for (const char* precision : {"bf16", "tf32"}) {
      SCOPED_TRACE(fmt::format("{} {}", encoding, precision));
      const Trained rounded = train_steps(run_in_parts(encoding, precision, 3), at::kCUDA, kSteps);
      expect_near(rounded.losses, full.losses, 1e-2, "loss");
      expect_near(rounded.norms, full.norms, 3e-2, "norm");
    }
  }
}

TEST_F(GpuAccumulation, GivesTheSameBitsAgain) {
  for (const char* precision : {"fp32", "bf16"}) {
    expect_same_bits_again(run_in_parts("t5", precision, 3), precision);
  }
}

TEST_F(GpuAccumulation, StopsAtALossThatIsNotFinite) {
  TrainConfig config = run_in_parts("nope", "bf16", 2);
  config.lr = 1e20;
  config.weight_decay = 0;
  Decoder decoder(config.model, 1, at::kFloat, at::kCUDA);
  TrainState state;
  state.first = at::zeros_like(decoder.parameters().values());
  state.second = at::zeros_like(decoder.parameters().values());
  const std::unique_ptr<Learner> learner = make_gpu_learner(config, sorting().train, decoder, state);
  int64_t bad = 0;
  for (int64_t step = 0; step < 8 && bad == 0; ++step) {
    learner->step(step);
    bad = learner->metrics().not_finite;
  }
  EXPECT_GT(bad, 0);
  EXPECT_TRUE(at::isfinite(decoder.parameters().values()).all().item<bool>());
}

}  // namespace
}  // namespace lengthwise
