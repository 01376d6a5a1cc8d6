// Batches, loss and optimizer on the GPU against the CPU's.
#include "batch/assemble.h"
#include "core/rng.h"
#include "gpu_kernels/assemble.h"
#include "gpu_kernels/cross_entropy.h"
#include "gpu_kernels/optimizer.h"
#include "gpu_kernels/split_values.h"
#include "kernels/adamw.h"
#include "kernels/elementwise.h"
#include "tests/gpu_kernels/device_tensor.h"

namespace lengthwise::gpu {
namespace {

class GpuTraining : public GpuTest {};

struct LossCase {
  Storage in, out;
  int64_t vocabulary, stride, rows;
};

TEST_F(GpuTraining, CrossEntropyAgreesWithTheCpu) {
  constexpr Storage kFloat = Storage::float32;
  constexpr Storage kBf16 = Storage::bfloat16;
  at::manual_seed(5);
  for (const LossCase& c : {LossCase{kFloat, kFloat, 30, 32, 40}, LossCase{kFloat, kBf16, 1000, 1000, 5},
                            LossCase{kBf16, kBf16, 3301, 3304, 4}, LossCase{kFloat, kFloat, 5000, 5000, 3},
                            LossCase{kBf16, kFloat, 2, 4, 9}}) {
    const int64_t capacity = c.rows + 2;
    at::Tensor logits = (at::randn({capacity, c.stride}) * 3).to(type_of(c.in));
    logits[1].fill_(0.5);  // all equal: the first is the best
    const at::Tensor targets = at::randint(0, c.vocabulary, {capacity}, at::kInt);
    at::Tensor expected = logits.narrow(0, 0, c.rows).narrow(1, 0, c.vocabulary).to(at::kDouble).contiguous();
    at::Tensor losses_expected = at::empty({c.rows}, at::kDouble);
    at::Tensor best_expected = at::empty({c.rows}, at::kLong);
    const double weight = 1.0 / static_cast<double>(c.rows);
    lengthwise::cross_entropy(expected, targets.narrow(0, 0, c.rows).to(at::kLong), weight, losses_expected,
                              best_expected);

    const DeviceTensor in(logits), targets_in(targets);
    const DeviceTensor d_logits({capacity, c.stride}, type_of(c.out));
    const DeviceTensor losses({capacity}, at::kFloat), best({capacity}, at::kInt);
    const DeviceValue<int32_t> rows(static_cast<int32_t>(c.rows));
    const DeviceValue<float> weight_in(static_cast<float>(weight));
    CrossEntropy args;
    args.logits_storage = c.in;
    args.logits = in.data();
    args.capacity = capacity;
    args.vocabulary = c.vocabulary;
    args.stride = c.stride;
    args.rows = rows.data();
    args.targets = targets_in.data<int32_t>();
    args.weight = weight_in.data();
    args.losses = losses.data<float>();
    args.best = best.data<int32_t>();
    args.d_storage = c.out;
    args.d_logits = d_logits.data();
    cross_entropy(args, nullptr);
    const double tolerance = tolerance_of(c.out);
    expect_close(losses.host().narrow(0, 0, c.rows), losses_expected, 1e-5, "losses");
    EXPECT_TRUE(at::equal(best.host().narrow(0, 0, c.rows).to(at::kLong), best_expected));
    expect_close(d_logits.host().narrow(0, 0, c.rows).narrow(1, 0, c.vocabulary), expected, tolerance, "d_logits");
    expect_zero_rows(d_logits.host(), c.rows, "d_logits");
    expect_zero_rows(d_logits.host().t().contiguous(), c.vocabulary, "d_logits behind the vocabulary");
    expect_zero_rows(losses.host().unsqueeze(1), c.rows, "losses");
    if (c.in != c.out) continue;
    args.d_logits = in.data();
    cross_entropy(args, nullptr);
    expect_equal(in.host(), d_logits.host(), "gradients in place");
  }
}

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

TEST_F(GpuTraining, OptimizerAgreesWithTheCpu) {
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

TEST_F(GpuTraining, WeightsAreSplitAndJoined) {
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

TEST_F(GpuTraining, OptimizerGivesTheSameOnSplitWeights) {
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

TokenSet make_set(int64_t examples) {
  Rng rng(4);
  TokenSet set;
  for (int64_t i = 0; i < examples; ++i) {
    const int64_t prompt = rng.between(1, 9);
    const int64_t all = prompt + rng.between(1, 7);
    for (int64_t t = 0; t < all; ++t) set.tokens.push_back(static_cast<int32_t>(rng.between(1, 99)));
    set.offsets.push_back(static_cast<int64_t>(set.tokens.size()));
    set.prompt_tokens.push_back(static_cast<int32_t>(prompt));
    set.length.push_back(1);
  }
  return set;
}

/// The device's batches of some steps against make_batch, with the trainer's seeds and random starts.
void check_batches(int64_t examples, int64_t sequences, int64_t random_offset, int64_t steps) {
  const TokenSet set = make_set(examples);
  const Rng root(21);
  EpochOrder order(examples, sequences, 21);
  constexpr int64_t kCapacity = 1000;
  const int64_t epochs = (steps * sequences) / examples + 2;
  std::vector<int32_t> orders;
  EpochOrder all(examples, examples, 21);
  for (int64_t epoch = 0; epoch < epochs; ++epoch) {
    for (const int64_t example : all.examples_of(epoch)) orders.push_back(static_cast<int32_t>(example));
  }
  const DeviceTensor tokens(at::tensor(set.tokens, at::kInt)), offsets(at::tensor(set.offsets, at::kLong)),
      prompts(at::tensor(set.prompt_tokens, at::kInt)), orders_in(at::tensor(orders, at::kInt));
  const DeviceTensor out_tokens({kCapacity}, at::kInt), positions({kCapacity}, at::kInt),
      target_at({kCapacity}, at::kInt), out_offsets({sequences + 1}, at::kInt), loss_rows({kCapacity}, at::kInt),
      targets({kCapacity}, at::kInt);
  const DeviceValue<StepState> state;
  AssembleBatch args;
  args.set = {tokens.data<int32_t>(), offsets.data<int64_t>(), prompts.data<int32_t>(), examples};
  args.order = {orders_in.data<int32_t>(), examples, epochs};
  args.batch = {sequences,
                kCapacity,
                kCapacity,
                /*longest=*/100,
                out_tokens.data<int32_t>(),
                positions.data<int32_t>(),
                target_at.data<int32_t>(),
                out_offsets.data<int32_t>(),
                loss_rows.data<int32_t>(),
                targets.data<int32_t>()};
  args.state = state.data();
  args.dropout_key = root.stream("dropout").key();
  args.offset_key = root.stream("offsets").key();
  args.random_offset = random_offset;
  for (int64_t step = 0; step < steps; ++step) {
    StepState now = state.get();
    now.step = step;
    state.set(now);
    assemble_batch(args, nullptr);
    const std::span<const int64_t> chosen = order.examples_of(step);
    std::vector<int64_t> starts;
    Rng rng = root.stream("offsets").at(static_cast<uint64_t>(step));
    for (const int64_t example : chosen) {
      if (random_offset == 0) break;
      starts.push_back(rng.between(0, random_offset - static_cast<int64_t>(set.sequence(example).size()) + 1));
    }
    const Batch expected = make_batch(set, chosen, starts);
    now = state.get();
    EXPECT_EQ(now.tokens, expected.token_count());
    EXPECT_EQ(now.targets, expected.target_count());
    EXPECT_EQ(now.weight, 1.0f / static_cast<float>(expected.target_count()));
    EXPECT_EQ(now.dropout_seed, root.stream("dropout").at(static_cast<uint64_t>(step)).next64());
    EXPECT_EQ(now.flags, 0u);
    const auto expect_same = [&](const DeviceTensor& got, const at::Tensor& wanted, int64_t rest, const char* what) {
      const at::Tensor values = got.host().to(at::kLong);
      const int64_t count = wanted.size(0);
      EXPECT_TRUE(at::equal(values.narrow(0, 0, count), wanted)) << what;
      EXPECT_TRUE((values.narrow(0, count, values.size(0) - count) == rest).all().item<bool>()) << what << ", the rest";
    };
    expect_same(out_tokens, expected.tokens, 0, "tokens");
    expect_same(positions, expected.positions, 0, "positions");
    expect_same(out_offsets, expected.offsets, 0, "offsets");
    expect_same(loss_rows, expected.loss_rows, -1, "loss rows");
    expect_same(targets, expected.targets, 0, "targets");
    at::Tensor places = at::full({kCapacity}, -1, at::kLong);
    places.index_copy_(0, expected.loss_rows, at::arange(expected.target_count()));
    EXPECT_TRUE(at::equal(target_at.host().to(at::kLong), places)) << "target_at";
  }
}

TEST_F(GpuTraining, BatchesAreThoseOfTheCpu) {
  check_batches(/*examples=*/50, /*sequences=*/16, /*random_offset=*/0, /*steps=*/7);
}

TEST_F(GpuTraining, BatchesLargerThanTheDataSetWrapRound) {
  check_batches(/*examples=*/5, /*sequences=*/18, /*random_offset=*/0, /*steps=*/4);
}

TEST_F(GpuTraining, RandomStartsAreThoseOfTheCpu) {
  check_batches(/*examples=*/40, /*sequences=*/33, /*random_offset=*/60, /*steps=*/3);
  // With bounds near 2^30 a quarter of the draws is refused, so that draws and sequences part.
  check_batches(/*examples=*/40, /*sequences=*/12, /*random_offset=*/(int64_t{1} << 30) + 100, /*steps=*/2);
}

TEST_F(GpuTraining, ABatchThatDoesNotFitIsReported) {
  const TokenSet set = make_set(4);
  const DeviceTensor tokens(at::tensor(set.tokens, at::kInt)), offsets(at::tensor(set.offsets, at::kLong)),
      prompts(at::tensor(set.prompt_tokens, at::kInt)), order(at::tensor({0, 1, 2, 3}, at::kInt));
  const DeviceTensor space({6, 64}, at::kInt);
  const DeviceValue<StepState> state;
  AssembleBatch args;
  args.set = {tokens.data<int32_t>(), offsets.data<int64_t>(), prompts.data<int32_t>(), 4};
  args.order = {order.data<int32_t>(), 4, 1};
  auto* row = space.data<int32_t>();
  args.batch = {4, 8, 8, 100, row, row + 64, row + 128, row + 192, row + 256, row + 320};
  args.state = state.data();
  assemble_batch(args, nullptr);
  EXPECT_EQ(state.get().flags, kTooLarge);
  EXPECT_EQ(state.get().tokens, 8);
  EXPECT_EQ(space.host()[0][8].item<int32_t>(), -1) << "nothing is written behind the capacity";
}

}  // namespace
}  // namespace lengthwise::gpu
