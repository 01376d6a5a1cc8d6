#include "gpu_kernels/assemble.h"
#include "gpu_kernels/device.cuh"
#include "gpu_kernels/limits.h"

namespace lengthwise::gpu {
namespace {

constexpr int kBlock = 256;
constexpr int kFillBlocks = 8;

/// Philox4x32-10, as in core/rng.cc: word `word` of block `block` of the stream (key, index).
__device__ uint32_t random_word(uint64_t key, uint64_t index, uint64_t block, int word) {
  uint32_t x[4] = {static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), static_cast<uint32_t>(index),
                   static_cast<uint32_t>(index >> 32)};
  auto k0 = static_cast<uint32_t>(key);
  auto k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = static_cast<uint64_t>(0xd2511f53u) * x[0];
    const uint64_t b = static_cast<uint64_t>(0xcd9e8d57u) * x[2];
    const uint32_t y[4] = {static_cast<uint32_t>(b >> 32) ^ x[1] ^ k0, static_cast<uint32_t>(b),
                           static_cast<uint32_t>(a >> 32) ^ x[3] ^ k1, static_cast<uint32_t>(a)};
    for (int i = 0; i < 4; ++i) x[i] = y[i];
    k0 += 0x9e3779b9u;
    k1 += 0xbb67ae85u;
  }
  return word == 0 ? x[0] : word == 1 ? x[1] : word == 2 ? x[2] : x[3];
}

__device__ uint32_t random_word(uint64_t key, uint64_t index, int64_t draw) {
  return random_word(key, index, static_cast<uint64_t>(draw) / 4, static_cast<int>(draw % 4));
}

/// Whether the drawn word must be thrown away for an unbiased number below `bound` (Rng::below).
__device__ bool refused(uint32_t word, uint32_t bound) {
  const auto low = static_cast<uint32_t>(static_cast<uint64_t>(word) * bound);
  return low < bound && low < (0u - bound) % bound;
}

struct Example {
  int64_t from;  ///< in the token array
  int inputs;    ///< tokens but the last
  int prompt;
  int targets;
};

/// Sequences are counted over all parts, in everything but the block's own.
__device__ Example example_of(const AssembleBatch& args, int64_t step, int sequence) {
  const int64_t place = step * args.step_sequences + sequence;
  const int64_t row = place / args.order.count % args.order.epochs;
  const int64_t example = args.order.examples[row * args.order.count + place % args.order.count];
  Example found{};
  found.from = args.set.offsets[example];
  found.inputs = static_cast<int>(args.set.offsets[example + 1] - found.from) - 1;
  found.prompt = args.set.prompt_tokens[example];
  found.targets = found.inputs + 1 - found.prompt;
  return found;
}

/// The start that the host's generator gives to `sequence`: its draw comes after one of every earlier sequence, and
/// after one more for every word that was thrown away.
__device__ int64_t start_of(const AssembleBatch& args, int64_t step, int sequence, bool none_refused) {
  if (args.random_offset == 0) return 0;
  const auto index = static_cast<uint64_t>(step);
  const auto bound_of = [&](int s) {
    return static_cast<uint32_t>(args.random_offset - example_of(args, step, s).inputs + 1);
  };
  int64_t draw = sequence;
  if (!none_refused) {
    draw = 0;
    for (int s = 0; s < sequence; ++s) {
      const uint32_t bound = bound_of(s);
      while (refused(random_word(args.offset_key, index, draw), bound)) ++draw;
      ++draw;
    }
  }
  const uint32_t bound = bound_of(sequence);
  while (refused(random_word(args.offset_key, index, draw), bound)) ++draw;
  return static_cast<int64_t>((static_cast<uint64_t>(random_word(args.offset_key, index, draw)) * bound) >> 32);
}

/// One block a sequence, each finding its own place by adding up what stands before it; the last blocks fill the rest.
__global__ void __launch_bounds__(kBlock) assemble_kernel(AssembleBatch args) {
  begin();
  __shared__ int scratch[kBlock / 32];
  __shared__ Example mine;
  __shared__ int64_t start;
  const DeviceBatch& batch = args.batch;
  const int64_t step = args.state->step;
  const int sequence = static_cast<int>(blockIdx.x);
  const auto sequences = static_cast<int>(batch.sequences);
  const int64_t part = args.state->part;
  const auto first_of_part = static_cast<int>(part * args.step_sequences / args.parts);
  const auto end_of_part = static_cast<int>((part + 1) * args.step_sequences / args.parts);
  int token_sum = 0, target_sum = 0, tokens_before = 0, targets_before = 0, most = 0, refusals = 0, all_targets = 0;
  for (int s = static_cast<int>(threadIdx.x); s < static_cast<int>(args.step_sequences); s += kBlock) {
    const Example example = example_of(args, step, s);
    all_targets += example.targets;
    if (s >= first_of_part && s < first_of_part + sequences) {
      token_sum += example.inputs;
      target_sum += example.targets;
      if (s < first_of_part + sequence) tokens_before += example.inputs;
      if (s < first_of_part + sequence) targets_before += example.targets;
      if (s == first_of_part + sequence) mine = example;
      most = max(most, example.inputs);
    }
    if (args.random_offset > 0) {
      const auto bound = static_cast<uint32_t>(args.random_offset - example.inputs + 1);
      refusals += refused(random_word(args.offset_key, static_cast<uint64_t>(step), s), bound) ? 1 : 0;
    }
  }
  token_sum = block_sum<kBlock>(token_sum, scratch);
  target_sum = block_sum<kBlock>(target_sum, scratch);
  tokens_before = block_sum<kBlock>(tokens_before, scratch);
  targets_before = block_sum<kBlock>(targets_before, scratch);
  refusals = block_sum<kBlock>(refusals, scratch);
  if (args.parts > 1) all_targets = block_sum<kBlock>(all_targets, scratch);
#pragma unroll
  for (int lane_step = 16; lane_step > 0; lane_step /= 2) most = max(most, __shfl_xor_sync(kAll, most, lane_step));
  __syncthreads();
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = most;
  __syncthreads();
  for (int w = 0; w < kBlock / 32; ++w) most = max(most, scratch[w]);

  const auto token_capacity = static_cast<int>(batch.token_capacity);
  const auto target_capacity = static_cast<int>(batch.target_capacity);
  const int tokens = min(token_sum, token_capacity);
  const int targets = min(target_sum, target_capacity);
  if (sequence >= sequences) {
    const int stride = kFillBlocks * kBlock;
    const int first = (sequence - sequences) * kBlock + static_cast<int>(threadIdx.x);
    for (int t = tokens + first; t < token_capacity; t += stride) {
      batch.tokens[t] = 0;
      batch.positions[t] = 0;
      batch.target_at[t] = -1;
    }
    for (int t = targets + first; t < target_capacity; t += stride) {
      batch.loss_rows[t] = -1;
      batch.targets[t] = 0;
    }
    if (first != 0) return;
    batch.offsets[0] = 0;
    StepState& state = *args.state;
    state.tokens = tokens;
    state.targets = targets;
    const int weighed = args.parts > 1 ? all_targets : targets;
    state.weight = weighed > 0 ? 1.0f / static_cast<float>(weighed) : 0.0f;
    const auto seed_word = [&](int64_t draw) {
      return random_word(args.dropout_key, static_cast<uint64_t>(step), draw);
    };
    state.dropout_seed = seed_word(2 * part) | static_cast<uint64_t>(seed_word(2 * part + 1)) << 32;
    if (token_sum > token_capacity || target_sum > target_capacity || most > batch.longest ||
        end_of_part - first_of_part != sequences) {
      state.flags |= kTooLarge;
    }
    return;
  }
  if (threadIdx.x == 0) {
    start = start_of(args, step, first_of_part + sequence, refusals == 0);
    batch.offsets[sequence + 1] = min(tokens_before + mine.inputs, token_capacity);
  }
  __syncthreads();
  const int32_t* from = args.set.tokens + mine.from;
  for (int t = static_cast<int>(threadIdx.x); t < mine.inputs; t += kBlock) {
    const int row = tokens_before + t;
    const int target = t + 1 >= mine.prompt ? targets_before + t + 1 - mine.prompt : -1;
    if (row >= token_capacity) break;
    batch.tokens[row] = from[t];
    batch.positions[row] = static_cast<int32_t>(start + t);
    batch.target_at[row] = target < target_capacity ? target : -1;
    if (target < 0 || target >= target_capacity) continue;
    batch.loss_rows[target] = row;
    batch.targets[target] = from[t + 1];
  }
}

}  // namespace

void assemble_batch(const AssembleBatch& args, cudaStream_t stream) {
  static_assert(kMostSequences + kFillBlocks <= 65535);
  require(args.batch.sequences > 0 && args.batch.sequences <= kMostSequences,
          "a batch on the GPU has 1 to " + std::to_string(kMostSequences) + " sequences, not " +
              std::to_string(args.batch.sequences));
  AssembleBatch whole = args;
  if (args.parts == 1) whole.step_sequences = args.batch.sequences;
  require(whole.parts >= 1 && whole.step_sequences >= whole.parts, "a part of a batch must have sequences");
  require(args.order.epochs >= (whole.step_sequences + args.order.count - 1) / args.order.count + 1 ||
              args.order.count % whole.step_sequences == 0,
          "too few epochs of the order are on the device for a batch");
  launch("assemble_batch", assemble_kernel, static_cast<unsigned>(args.batch.sequences + kFillBlocks), kBlock, 0,
         stream, whole);
}

}  // namespace lengthwise::gpu
