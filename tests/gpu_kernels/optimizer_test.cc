// The optimizer on the GPU against the CPU's.
#include "gpu_kernels/optimizer.h"

#include "gpu_kernels/parts.h"
#include "gpu_kernels/split_values.h"
#include "kernels/adamw.h"
#include "tests/gpu_kernels/device_tensor.h"

namespace lengthwise::gpu {
namespace {

class GpuOptimizer : public GpuTest {};

double cpu_rate(int64_t step, const Optimizer& args) {
  const auto at = static_cast<double>(step);
  if (step < args.warmup) return args.peak * at / static_cast<double>(args.warmup);
  if (step >= args.steps) return args.end;
  return args.end + (args.peak - args.end) *
                        (1 - (at - static_cast<double>(args.warmup)) / static_cast<double>(args.steps - args.warmup));
}

/// Values, moments and a mirror on the device, and an optimizer over them that decays some and clips.
struct OptimizerRun {
  DeviceTensor values, first, second, mirror, sums;
  DeviceValue<StepState> state;
  Optimizer args;

  explicit OptimizerRun(const at::Tensor& start)
      : values(start),
        first(at::zeros_like(start)),
        second(at::zeros_like(start)),
        mirror(start.sizes(), at::kBFloat16),
        sums({kNormBlocks}, at::kDouble) {
    args.count = start.numel();
    args.decayed = 6001;
    args.values = values.data<float>();
    args.first = first.data<float>();
    args.second = second.data<float>();
    args.mirror = mirror.data();
    args.peak = 1e-2;
    args.weight_decay = 0.05;
    args.clip = 30;
    args.sums = sums.data<double>();
    args.state = state.data();
  }
};

TEST_F(GpuOptimizer, OptimizerAgreesWithTheCpu) {
  constexpr int64_t kCount = 10007;
  at::manual_seed(8);
  at::Tensor values = at::randn({kCount}), first = at::zeros({kCount}), second = at::zeros({kCount});
  const OptimizerRun run(values);
  const at::Tensor losses = at::rand({12});
  const DeviceTensor losses_in(losses);
  StepState start;
  start.targets = 10;
  start.tokens = 100;
  run.state.set(start);
  Optimizer args = run.args;
  args.end = 1e-4;
  args.steps = 6;
  args.warmup = 2;
  args.losses = losses_in.data<float>();
  for (int64_t step = 0; step < 7; ++step) {
    at::Tensor gradients = at::randn({kCount}) * (step % 2 == 0 ? 0.1 : 1.0);  // every other one is clipped
    // In odd steps the first gradients come in bfloat16.
    args.rounded = step % 2 == 1 ? 4000 : 0;
    const at::Tensor rounded = gradients.narrow(0, 0, 4000).to(at::kBFloat16);
    const DeviceTensor gradients_in(gradients), rounded_in(rounded);
    if (args.rounded > 0) gradients.narrow(0, 0, 4000).copy_(rounded);
    args.gradients = gradients_in.data<float>();
    args.rounded_gradients = rounded_in.data();
    // In every fourth step two parts of them are squared beforehand.
    const DeviceTensor squares({2 * kSquareBlocks}, at::kDouble);
    args.squared = args.square_count = 0;
    if (step % 4 == 3) {
      gradient_squares(rounded_in.data(), 1600, squares.data<double>(), nullptr);
      gradient_squares(rounded_in.data<at::BFloat16>() + 1600, 800, squares.data<double>() + kSquareBlocks, nullptr);
      args.squared = 2400;
      args.squares = squares.data<double>();
      args.square_count = 2 * kSquareBlocks;
    }
    optimizer_step(args, nullptr);
    const double norm = arena_norm(gradients);
    AdamWStep update{.step = step + 1,
                     .lr = cpu_rate(step, args),
                     .beta1 = args.beta1,
                     .beta2 = args.beta2,
                     .epsilon = args.epsilon,
                     .weight_decay = args.weight_decay,
                     .gradient_scale = norm > args.clip ? args.clip / (norm + 1e-6) : 1.0};
    adamw_update(values, gradients, first, second, args.decayed, update);
    const StepState now = run.state.get();
    EXPECT_EQ(now.step, step + 1);
    EXPECT_NEAR(now.norm, norm, 1e-6 * norm);
    EXPECT_NEAR(now.lr, update.lr, 1e-12);
    EXPECT_NEAR(now.loss, losses.narrow(0, 0, 10).mean().item<double>(), 1e-6);
    expect_close(run.values.host(), values, 1e-6, "values");
    expect_close(run.second.host(), second, 1e-6, "second moments");
    expect_equal(run.mirror.host(), run.values.host().to(at::kBFloat16), "mirror");
  }
  EXPECT_EQ(run.state.get().tokens_seen, 700);

  // A gradient that is not finite leaves everything as it was, and so do all steps after it.
  args.rounded = args.squared = args.square_count = 0;
  at::Tensor gradients = at::randn({kCount});
  gradients[kCount - 1] = INFINITY;
  const DeviceTensor bad(gradients), good(at::randn({kCount}));
  const at::Tensor before = run.values.host();
  for (const DeviceTensor* gradient : {&bad, &good}) {
    args.gradients = gradient->data<float>();
    optimizer_step(args, nullptr);
    EXPECT_EQ(run.state.get().flags, kNotFinite);
    EXPECT_EQ(run.state.get().step, 7);
    expect_equal(run.values.host(), before, "values after a bad step");
  }
}

TEST_F(GpuOptimizer, WeightsAreSplitAndJoined) {
  at::manual_seed(10);
  // Among them floats between two bfloat16; where the lower one is even, their last bit changes.
  at::Tensor values = at::randn({4096}) * at::randn({4096}).exp();
  const at::Tensor bits = values.view(at::kInt);
  bits.narrow(0, 0, 1000).bitwise_and_(-65536).add_(0x8000);
  bits.narrow(0, 1000, 1000).bitwise_and_(-65536).add_(0x8001);
  bits.narrow(0, 2000, 1000).bitwise_and_(-65536).add_(0x7fff);
  const at::Tensor some = at::tensor({0.0f, -0.0f, 1.0f, -1.0f, 1e-42f, -3e38f, 0x1.ff0002p0f, -0x1.fefffep-3f});
  values.narrow(0, 3000, 8).copy_(some);
  const DeviceTensor values_in(values), mirror({4096}, at::kBFloat16), low({4096}, at::kShort);
  const DeviceTensor joined({4096}, at::kFloat);
  split_values(values_in.data<float>(), 4096, mirror.data(), low.data<uint16_t>(), nullptr);
  join_values(mirror.data(), low.data<uint16_t>(), 4096, joined.data<float>(), nullptr);
  const at::Tensor back = joined.host().view(at::kInt);
  EXPECT_TRUE(at::equal(back.narrow(0, 1000, 3096), bits.narrow(0, 1000, 3096)));
  const at::Tensor halfway = bits.narrow(0, 0, 1000);
  EXPECT_TRUE(at::equal(back.narrow(0, 0, 1000), halfway - (halfway.bitwise_and(0x10000) == 0).to(at::kInt)));
  expect_equal(mirror.host(), joined.host().to(at::kBFloat16), "mirror");
  EXPECT_THROW(split_values(nullptr, 6, nullptr, nullptr, nullptr), std::logic_error);
}

TEST_F(GpuOptimizer, OptimizerGivesTheSameOnSplitWeights) {
  constexpr int64_t kCount = 10007;
  constexpr int64_t kSplit = 4000;
  at::manual_seed(9);
  const at::Tensor values = at::randn({kCount});
  OptimizerRun plain(values), split(values);
  for (OptimizerRun* run : {&plain, &split}) {
    run->args.rounded = kSplit;
    run->args.end = run->args.peak;
  }
  const DeviceTensor low({kSplit}, at::kShort);
  split.args.low = low.data<uint16_t>();
  split_values(split.args.values, kSplit, split.args.mirror, split.args.low, nullptr);
  for (int64_t step = 0; step < 5; ++step) {
    const at::Tensor gradients = at::randn({kCount});
    const DeviceTensor gradients_in(gradients), rounded_in(gradients.narrow(0, 0, kSplit).to(at::kBFloat16));
    for (OptimizerRun* run : {&plain, &split}) {
      run->args.gradients = gradients_in.data<float>();
      run->args.rounded_gradients = rounded_in.data();
      optimizer_step(run->args, nullptr);
    }
    expect_equal(split.values.host().narrow(0, 0, kSplit), values.narrow(0, 0, kSplit), "values that are split");
    const DeviceTensor joined({kSplit}, at::kFloat);
    join_values(split.args.mirror, split.args.low, kSplit, joined.data<float>(), nullptr);
    expect_close(joined.host(), plain.values.host().narrow(0, 0, kSplit), 1e-6, "joined");
    expect_equal(split.mirror.host().narrow(0, 0, kSplit), joined.host().to(at::kBFloat16), "their mirror");
    const auto rest = [&](const DeviceTensor& t) { return t.host().narrow(0, kSplit, kCount - kSplit); };
    expect_equal(rest(split.values), rest(plain.values), "the other values");
    expect_equal(rest(split.mirror), rest(plain.mirror), "their mirror");
    expect_close(split.second.host(), plain.second.host(), 1e-6, "second moments");
  }
}

// A step in three parts against the CPU's step with the sum of their gradients.
TEST_F(GpuOptimizer, AStepInPartsIsOneOfTheirSum) {
  constexpr int64_t kCount = 10008;
  constexpr int64_t kRounded = 4000;
  constexpr int64_t kTargets[] = {10, 0, 7};
  at::manual_seed(11);
  at::Tensor values = at::randn({kCount}), first = at::zeros({kCount}), second = at::zeros({kCount});
  const OptimizerRun run(values);
  const DeviceTensor sums({kCount}, at::kFloat);
  Optimizer args = run.args;
  args.end = args.peak;
  args.gradients = sums.data<float>();
  args.in_parts = true;
  for (int64_t step = 0; step < 3; ++step) {
    at::Tensor sum = at::zeros({kCount});
    double losses_sum = 0;
    for (const int64_t targets : kTargets) {
      const at::Tensor gradients = at::randn({kCount}), losses = at::rand({12});
      const at::Tensor rounded = gradients.narrow(0, 0, kRounded).to(at::kBFloat16);
      const DeviceTensor gradients_in(gradients), rounded_in(rounded), losses_in(losses);
      gradients.narrow(0, 0, kRounded).copy_(rounded);
      sum += gradients;
      losses_sum += losses.narrow(0, 0, targets).sum().item<double>();
      StepState now = run.state.get();
      now.targets = static_cast<int32_t>(targets);
      now.tokens = 100;
      run.state.set(now);
      AddPart part;
      part.count = kCount;
      part.gradients = gradients_in.data<float>();
      part.rounded_gradients = rounded_in.data();
      part.rounded = kRounded;
      part.sums = sums.data<float>();
      part.losses = losses_in.data<float>();
      part.state = run.state.data();
      add_part(part, nullptr);
    }
    EXPECT_EQ(run.state.get().part, 3);
    expect_equal(sums.host(), sum, "sums");
    optimizer_step(args, nullptr);
    const double norm = arena_norm(sum);
    AdamWStep update{.step = step + 1,
                     .lr = args.peak,
                     .beta1 = args.beta1,
                     .beta2 = args.beta2,
                     .epsilon = args.epsilon,
                     .weight_decay = args.weight_decay,
                     .gradient_scale = norm > args.clip ? args.clip / (norm + 1e-6) : 1.0};
    adamw_update(values, sum, first, second, args.decayed, update);
    const StepState now = run.state.get();
    EXPECT_EQ(now.step, step + 1);
    EXPECT_EQ(now.part, 0);
    EXPECT_EQ(now.tokens_seen, 300 * (step + 1));
    EXPECT_NEAR(now.norm, norm, 1e-6 * norm);
    EXPECT_NEAR(now.loss, losses_sum / 17, 1e-6);
    expect_close(run.values.host(), values, 1e-6, "values");
    expect_equal(run.mirror.host(), run.values.host().to(at::kBFloat16), "mirror");
  }
  AddPart uneven;
  uneven.count = 10;
  EXPECT_THROW(add_part(uneven, nullptr), std::logic_error);
}

}  // namespace
}  // namespace lengthwise::gpu
