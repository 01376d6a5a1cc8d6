#include "gpu_kernels/cross_entropy.h"
#include "gpu_kernels/device.cuh"

namespace lengthwise::gpu {
namespace {

constexpr float kLog2e = 1.44269504088896341f;
constexpr int kBlock = 512;

/// The largest value so far, where it first stood, and the sum of exp(value - largest).
struct Running {
  float largest = -INFINITY;
  float sum = 0;
  int column = INT_MAX;

  __device__ void add(const Running& other) {
    if (other.largest > largest || (other.largest == largest && other.column < column)) column = other.column;
    const float most = fmaxf(largest, other.largest);
    // Two empty ones would give inf - inf.
    if (most == -INFINITY) return;
    sum = sum * exp2_fast((largest - most) * kLog2e) + other.sum * exp2_fast((other.largest - most) * kLog2e);
    largest = most;
  }

  __device__ Running from_lane(int step) const {
    Running other;
    other.largest = __shfl_xor_sync(kAll, largest, step);
    other.sum = __shfl_xor_sync(kAll, sum, step);
    other.column = __shfl_xor_sync(kAll, column, step);
    return other;
  }
};

/// kRow threads share a row.
template <class In, class Out, int kRow>
__global__ void __launch_bounds__(kBlock) cross_entropy_kernel(CrossEntropy args) {
  begin();
  __shared__ Running parts[kBlock / 32];
  const auto row = static_cast<int64_t>(blockIdx.x) * (kBlock / kRow) + threadIdx.x / kRow;
  if (row >= args.capacity) return;
  const int lane = static_cast<int>(threadIdx.x) % kRow;
  const auto columns = static_cast<int>(args.vocabulary);
  const auto stride = static_cast<int>(args.stride);
  const In* logits = static_cast<const In*>(args.logits) + row * args.stride;
  Out* out = args.d_logits != nullptr ? static_cast<Out*>(args.d_logits) + row * args.stride : nullptr;
  const bool real = args.rows == nullptr || args.first + row < *args.rows;
  if (!real) {
    if (lane == 0) {
      args.losses[row] = 0;
      if (args.best != nullptr) args.best[row] = -1;
    }
    for (int c = 4 * lane; out != nullptr && c < stride; c += 4 * kRow) store(out + c, make_float4(0, 0, 0, 0));
    return;
  }
  const int target = args.targets[row];
  const float target_logit = as_float(logits[target]);

  Running mine;
#pragma unroll 4
  for (int c = 4 * lane; c < columns; c += 4 * kRow) {
    const float4 four = widen(fetch(logits + c));
    const float values[4] = {four.x, four.y, four.z, four.w};
    float most = mine.largest;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      if (c + k >= columns) continue;
      if (values[k] > most) mine.column = c + k;
      most = fmaxf(most, values[k]);
    }
    if (most == -INFINITY) continue;
    float sum = mine.sum * exp2_fast((mine.largest - most) * kLog2e);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      if (c + k < columns) sum += exp2_fast((values[k] - most) * kLog2e);
    }
    mine.sum = sum;
    mine.largest = most;
  }
#pragma unroll
  for (int step = 16; step > 0; step /= 2) mine.add(mine.from_lane(step));
  if constexpr (kRow > 32) {
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = mine;
    __syncthreads();
    mine = parts[0];
    for (int w = 1; w < kRow / 32; ++w) mine.add(parts[w]);
  }
  if (lane == 0) {
    args.losses[row] = logf(mine.sum) + mine.largest - target_logit;
    if (args.best != nullptr) args.best[row] = min(mine.column, columns - 1);
  }
  if (out == nullptr) return;
  // A value that is not finite must reach the gradient: exp2 of it does.
  const float weight = *args.weight;
  const float factor = weight / mine.sum;
  const auto gradient = [&](float value, int column) {
    const float share = exp2_fast((value - mine.largest) * kLog2e) * factor;
    return column >= columns ? 0.0f : column == target ? share - weight : share;
  };
  constexpr int kHeld = 4;  // vectors read before the first is written: the compiler may not move reads past writes
  for (int first = 4 * lane; first < stride; first += kHeld * 4 * kRow) {
    typename Four<In>::Vector held[kHeld];
#pragma unroll
    for (int h = 0; h < kHeld; ++h) {
      if (first + h * 4 * kRow < stride) held[h] = fetch(logits + first + h * 4 * kRow);
    }
#pragma unroll
    for (int h = 0; h < kHeld; ++h) {
      const int c = first + h * 4 * kRow;
      if (c >= stride) continue;
      const float4 four = widen(held[h]);
      store(out + c, make_float4(gradient(four.x, c), gradient(four.y, c + 1), gradient(four.z, c + 2),
                                 gradient(four.w, c + 3)));
    }
  }
}

template <class In, class Out>
void run(const CrossEntropy& args, cudaStream_t stream) {
  if (args.vocabulary <= 1024) {
    constexpr int kRows = kBlock / 32;
    launch("cross_entropy", cross_entropy_kernel<In, Out, 32>,
           static_cast<unsigned>((args.capacity + kRows - 1) / kRows), kBlock, 0, stream, args);
  } else {
    launch("cross_entropy", cross_entropy_kernel<In, Out, kBlock>, static_cast<unsigned>(args.capacity), kBlock, 0,
           stream, args);
  }
}

}  // namespace

void cross_entropy(const CrossEntropy& args, cudaStream_t stream) {
  require(
      args.stride % 4 == 0 && args.stride >= args.vocabulary && args.vocabulary > 0,
      "cross-entropy on the GPU wants rows of logits padded to a multiple of 4, not " + std::to_string(args.stride));
  require(args.d_logits != args.logits || args.d_storage == args.logits_storage,
          "cross-entropy cannot replace logits by gradients of another type");
  if (args.capacity == 0) return;
  const bool float_in = args.logits_storage == Storage::float32;
  const bool float_out = args.d_storage == Storage::float32;
  if (float_in && float_out) return run<float, float>(args, stream);
  if (float_in) return run<float, bf16>(args, stream);
  if (float_out) return run<bf16, float>(args, stream);
  run<bf16, bf16>(args, stream);
}

}  // namespace lengthwise::gpu
