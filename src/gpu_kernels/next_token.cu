#include "gpu_kernels/launch.cuh"
#include "gpu_kernels/next_token.h"

namespace lengthwise::gpu {
namespace {

constexpr int kBlock = 128;

__global__ void __launch_bounds__(kBlock) next_kernel(NextToken args) {
  begin();
  const int64_t row = static_cast<int64_t>(blockIdx.x) * kBlock + threadIdx.x;
  if (row >= args.rows || args.alive[row] == 0) return;
  const int32_t token = args.best[row];
  const int32_t position = args.positions[row] + 1;
  args.tokens[row] = token;
  args.positions[row] = position;
  args.made[row * args.capacity + position] = token;
  if (token == args.end || position + 1 >= args.capacity) args.alive[row] = 0;
}

}  // namespace

void next_token(const NextToken& args, cudaStream_t stream) {
  if (args.rows == 0) return;
  launch("next_token", next_kernel, static_cast<unsigned>((args.rows + kBlock - 1) / kBlock), kBlock, 0, stream, args);
}

}  // namespace lengthwise::gpu
