#include <algorithm>

#include "gpu_kernels/device.cuh"
#include "gpu_kernels/parts.h"

namespace lengthwise::gpu {
namespace {

constexpr int kBlock = 256;
/// Eight blocks on each multiprocessor of an H200.
constexpr int64_t kMostBlocks = 1056;

/// By the last block, when all others have looked at the state.
__device__ void add_losses(const AddPart& args, bool is_first, double* scratch) {
  StepState& state = *args.state;
  double losses = 0;
  for (int t = static_cast<int>(threadIdx.x); t < state.targets; t += kBlock) {
    losses += static_cast<double>(args.losses[t]);
  }
  losses = block_sum<kBlock>(losses, scratch);
  if (threadIdx.x != 0) return;
  state.part_losses = is_first ? losses : state.part_losses + losses;
  state.part_tokens = is_first ? state.tokens : state.part_tokens + state.tokens;
  state.part_targets = is_first ? state.targets : state.part_targets + state.targets;
  state.part += 1;
  state.ticket = 0;
}

__global__ void __launch_bounds__(kBlock) add_part_kernel(AddPart args) {
  begin();
  __shared__ double scratch[kBlock / 32];
  __shared__ bool is_last;
  const bool is_first = args.state->part == 0;
  const auto stride = static_cast<int64_t>(gridDim.x) * kBlock;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * kBlock + threadIdx.x; i < args.count / 4; i += stride) {
    float4 sum = 4 * i < args.rounded ? widen(fetch(static_cast<const bf16*>(args.rounded_gradients) + 4 * i))
                                      : fetch(args.gradients + 4 * i);
    if (!is_first) {
      const float4 before = fetch(args.sums + 4 * i);
      sum = make_float4(before.x + sum.x, before.y + sum.y, before.z + sum.z, before.w + sum.w);
    }
    store(args.sums + 4 * i, sum);
  }
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(&args.state->ticket, 1u) == gridDim.x - 1;
  __syncthreads();
  if (is_last) add_losses(args, is_first, scratch);
}

}  // namespace

void add_part(const AddPart& args, cudaStream_t stream) {
  require(args.count % 4 == 0 && args.rounded % 4 == 0, "the gradients of parts are summed four at a time");
  if (args.count == 0) return;
  const int64_t blocks = std::clamp<int64_t>((args.count / 4 + kBlock - 1) / kBlock, 1, kMostBlocks);
  launch("sum of parts", add_part_kernel, static_cast<unsigned>(blocks), kBlock, 0, stream, args);
}

}  // namespace lengthwise::gpu
