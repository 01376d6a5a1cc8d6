// Batches on the GPU against the CPU's.
#include "gpu_kernels/assemble.h"

#include "batch/assemble.h"
#include "core/rng.h"
#include "tests/gpu_kernels/device_tensor.h"

namespace lengthwise::gpu {
namespace {

class GpuAssembly : public GpuTest {};

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

/// The device's batches of some steps against make_batch, with the trainer's seeds and random starts; taken in parts as
/// the trainer does (train/step_inputs.h).
void check_batches(int64_t examples, int64_t sequences, int64_t random_offset, int64_t steps, int64_t parts = 1) {
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
  args.parts = parts;
  args.step_sequences = sequences;
  args.state = state.data();
  args.dropout_key = root.stream("dropout").key();
  args.offset_key = root.stream("offsets").key();
  args.random_offset = random_offset;
  Rng seeds = root;
  for (int64_t i = 0; i < steps * parts; ++i) {
    const int64_t step = i / parts;
    const int64_t part = i % parts;
    const std::span<const int64_t> chosen = order.examples_of(step);
    std::vector<int64_t> starts;
    int64_t step_targets = 0;
    Rng rng = root.stream("offsets").at(static_cast<uint64_t>(step));
    for (const int64_t example : chosen) {
      step_targets += std::ssize(set.target(example));
      if (random_offset == 0) continue;
      starts.push_back(rng.between(0, random_offset - static_cast<int64_t>(set.sequence(example).size()) + 1));
    }
    const int64_t first = part * sequences / parts;
    args.batch.sequences = (part + 1) * sequences / parts - first;
    const auto own = [&](std::span<const int64_t> whole) {
      if (whole.empty()) return whole;
      return whole.subspan(static_cast<size_t>(first), static_cast<size_t>(args.batch.sequences));
    };
    const Batch expected = make_batch(set, own(chosen), own(starts));
    StepState now = state.get();
    now.step = step;
    now.part = part;
    state.set(now);
    assemble_batch(args, nullptr);
    now = state.get();
    if (part == 0) seeds = root.stream("dropout").at(static_cast<uint64_t>(step));
    EXPECT_EQ(now.tokens, expected.token_count());
    EXPECT_EQ(now.targets, expected.target_count());
    EXPECT_EQ(now.weight, 1.0f / static_cast<float>(step_targets));
    EXPECT_EQ(now.dropout_seed, seeds.next64());
    EXPECT_EQ(now.flags, 0u);
    const auto expect_same = [&](const DeviceTensor& got, const at::Tensor& wanted, int64_t rest, const char* what) {
      const at::Tensor values = got.host().to(at::kLong);
      const int64_t count = wanted.size(0);
      EXPECT_TRUE(at::equal(values.narrow(0, 0, count), wanted)) << what;
      EXPECT_TRUE((values.narrow(0, count, values.size(0) - count) == rest).all().item<bool>()) << what << ", the rest";
    };
    expect_same(out_tokens, expected.tokens, 0, "tokens");
    expect_same(positions, expected.positions, 0, "positions");
    const int64_t ends = args.batch.sequences + 1;
    EXPECT_TRUE(at::equal(out_offsets.host().narrow(0, 0, ends).to(at::kLong), expected.offsets)) << "offsets";
    expect_same(loss_rows, expected.loss_rows, -1, "loss rows");
    expect_same(targets, expected.targets, 0, "targets");
    at::Tensor places = at::full({kCapacity}, -1, at::kLong);
    places.index_copy_(0, expected.loss_rows, at::arange(expected.target_count()));
    EXPECT_TRUE(at::equal(target_at.host().to(at::kLong), places)) << "target_at";
  }
}

TEST_F(GpuAssembly, BatchesAreThoseOfTheCpu) {
  check_batches(/*examples=*/50, /*sequences=*/16, /*random_offset=*/0, /*steps=*/7);
}

TEST_F(GpuAssembly, BatchesLargerThanTheDataSetWrapRound) {
  check_batches(/*examples=*/5, /*sequences=*/18, /*random_offset=*/0, /*steps=*/4);
}

TEST_F(GpuAssembly, RandomStartsAreThoseOfTheCpu) {
  check_batches(/*examples=*/40, /*sequences=*/33, /*random_offset=*/60, /*steps=*/3);
  // With bounds near 2^30 a quarter of the draws is refused, so that draws and sequences part.
  check_batches(/*examples=*/40, /*sequences=*/12, /*random_offset=*/(int64_t{1} << 30) + 100, /*steps=*/2);
}

TEST_F(GpuAssembly, PartsAreThoseOfTheCpu) {
  check_batches(/*examples=*/50, /*sequences=*/16, /*random_offset=*/0, /*steps=*/4, /*parts=*/3);
  check_batches(/*examples=*/7, /*sequences=*/18, /*random_offset=*/0, /*steps=*/2, /*parts=*/18);
  check_batches(/*examples=*/40, /*sequences=*/12, /*random_offset=*/(int64_t{1} << 30) + 100, /*steps=*/2,
                /*parts=*/5);
}

TEST_F(GpuAssembly, ABatchThatDoesNotFitIsReported) {
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
