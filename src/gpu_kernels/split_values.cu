#include "gpu_kernels/split_values.cuh"
#include "gpu_kernels/split_values.h"

namespace lengthwise::gpu {
namespace {

constexpr int kBlock = 256;

__global__ void __launch_bounds__(kBlock)
    split_kernel(const float4* values, int64_t vectors, uint2* mirror, uint2* low) {
  begin();
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kBlock + threadIdx.x;
  if (i >= vectors) return;
  const SplitFour halves = split_four(values[i]);
  mirror[i] = halves.mirror;
  low[i] = halves.low;
}

__global__ void __launch_bounds__(kBlock)
    join_kernel(const uint2* mirror, const uint2* low, int64_t vectors, float4* values) {
  begin();
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kBlock + threadIdx.x;
  if (i < vectors) values[i] = join_four({mirror[i], low[i]});
}

unsigned blocks_of(int64_t count) {
  require(count % 4 == 0, "weights are split four at a time, not " + std::to_string(count));
  return static_cast<unsigned>((count / 4 + kBlock - 1) / kBlock);
}

}  // namespace

void split_values(const float* values, int64_t count, void* mirror, uint16_t* low, cudaStream_t stream) {
  if (count == 0) return;
  launch("split of weights", split_kernel, blocks_of(count), kBlock, 0, stream, reinterpret_cast<const float4*>(values),
         count / 4, static_cast<uint2*>(mirror), reinterpret_cast<uint2*>(low));
}

void join_values(const void* mirror, const uint16_t* low, int64_t count, float* values, cudaStream_t stream) {
  if (count == 0) return;
  launch("join of weights", join_kernel, blocks_of(count), kBlock, 0, stream, static_cast<const uint2*>(mirror),
         reinterpret_cast<const uint2*>(low), count / 4, reinterpret_cast<float4*>(values));
}

}  // namespace lengthwise::gpu
