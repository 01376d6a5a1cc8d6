#include "gpu_kernels/device.cuh"
#include "gpu_kernels/sums.h"

namespace lengthwise::gpu {
namespace {

constexpr int kColumns = 32;
constexpr int kRunners = 16;

/// Runner r adds the parts r, r + kRunners, ... of 32 columns; then the runners' sums are added in order.
__global__ void __launch_bounds__(kColumns* kRunners) sum_kernel(SumParts args) {
  begin();
  __shared__ float sums[kRunners][kColumns];
  const int lane = static_cast<int>(threadIdx.x) % kColumns;
  const int runner = static_cast<int>(threadIdx.x) / kColumns;
  const auto column = static_cast<int64_t>(blockIdx.x) * kColumns + lane;
  const int64_t group = blockIdx.y;
  float sum = 0;
  if (column < args.columns) {
    const float* from = args.values + group * args.group_stride + column;
    int64_t part = runner;
    for (; part + 7 * kRunners < args.parts; part += 8 * kRunners) {
      float values[8];
#pragma unroll
      for (int k = 0; k < 8; ++k) values[k] = from[(part + k * kRunners) * args.part_stride];
#pragma unroll
      for (int k = 0; k < 8; ++k) sum += values[k];
    }
    for (; part < args.parts; part += kRunners) sum += from[part * args.part_stride];
  }
  sums[runner][lane] = sum;
  __syncthreads();
  if (runner != 0 || column >= args.columns) return;
  for (int other = 1; other < kRunners; ++other) sum += sums[other][lane];
  float* to = (args.outs != nullptr ? args.outs[group] : args.out + group * args.out_stride) + column;
  *to = args.accumulate ? *to + sum : sum;
}

constexpr int kBlock = 128;

/// A warp for each number; its lanes share the sequences.
__global__ void __launch_bounds__(kBlock)
    by_position_kernel(SumByPosition args, const __grid_constant__ Jobs<PositionSum> all) {
  begin();
  const PositionSum own = all.of[blockIdx.y];
  const int64_t at = (static_cast<int64_t>(blockIdx.x) * kBlock + threadIdx.x) / 32;
  if (at >= args.rows * args.columns) return;
  const int64_t position = at / args.columns;
  const int64_t column = at % args.columns;
  float sum = 0;
  for (int64_t sequence = threadIdx.x % 32; sequence < args.sequences; sequence += 32) {
    const int32_t first = args.offsets[sequence];
    const int32_t length = args.offsets[sequence + 1] - first;
    if (length <= 0) continue;
    const int64_t index = position - args.positions[first];
    if (index < 0 || index >= length) continue;
    const float* from = own.values + (first + index) * args.columns + column;
#pragma unroll 4
    for (int64_t part = 0; part < own.parts; ++part) sum += from[part * args.part_stride];
  }
#pragma unroll
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(kAll, sum, step);
  if (threadIdx.x % 32 == 0) own.out[at] = sum;
}

}  // namespace

void sum_by_position(const SumByPosition& args, std::span<const PositionSum> sums, cudaStream_t stream) {
  const int64_t threads = 32 * args.rows * args.columns;
  if (threads == 0) return;
  in_launches(sums, [&](const Jobs<PositionSum>& all, std::span<const PositionSum> some) {
    const dim3 grid(static_cast<unsigned>((threads + kBlock - 1) / kBlock), static_cast<unsigned>(some.size()));
    launch("sum_by_position", by_position_kernel, grid, kBlock, 0, stream, args, all);
  });
}

void sum_parts(const SumParts& args, cudaStream_t stream) {
  if (args.groups == 0 || args.columns == 0) return;
  require(args.groups <= 65535, "sum_parts takes at most 65535 groups, not " + std::to_string(args.groups));
  launch("sum_parts", sum_kernel,
         dim3(static_cast<unsigned>((args.columns + kColumns - 1) / kColumns), static_cast<unsigned>(args.groups)),
         kColumns * kRunners, 0, stream, args);
}

}  // namespace lengthwise::gpu
