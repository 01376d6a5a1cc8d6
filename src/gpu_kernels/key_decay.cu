#include "gpu_kernels/device.cuh"
#include "gpu_kernels/key_decay.h"

namespace lengthwise::gpu {
namespace {

constexpr int kWarps = 4;
constexpr int kBlock = 32 * kWarps;

/// The warp's column and sequence.
struct Place {
  int column, lane, begin, length;
};

__device__ __forceinline__ Place place_of(const KeyDecay& args) {
  const auto sequence = static_cast<int64_t>(blockIdx.y);
  const int column = static_cast<int>(blockIdx.x) * kWarps + warp_index();
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int begin = args.offsets[sequence];
  // Behind the last sequence: the rows that belong to none.
  const int end = sequence < args.sequences ? args.offsets[sequence + 1] : static_cast<int>(args.token_capacity);
  return {column, lane, begin, end - begin};
}

__device__ __forceinline__ float softplus(float z) {
  return fmaxf(z, 0.0f) + log1pf(expf(-fabsf(z)));
}

template <class T>
__global__ void __launch_bounds__(kBlock) forward(KeyDecay args, float* bias) {
  begin();
  const Place place = place_of(args);
  if (place.column >= args.heads) return;
  const T* columns = static_cast<const T*>(args.columns) + place.column;
  const float constant = args.constant[place.column];
  float before = 0;
#pragma unroll 4
  for (int first = 0; first < place.length; first += 32) {
    const bool valid = first + place.lane < place.length;
    const int64_t token = place.begin + first + place.lane;
    float sum = valid ? softplus(-args.sign * (as_float(columns[token * args.stride]) + constant)) : 0.0f;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const float more = __shfl_up_sync(kAll, sum, step);
      if (place.lane >= step) sum += more;
    }
    sum += before;
    if (valid) bias[token * args.heads + place.column] = sum;
    before = __shfl_sync(kAll, sum, 31);
  }
}

template <class T>
__global__ void __launch_bounds__(kBlock) backward(KeyDecay args, KeyDecayGradients gradients) {
  begin();
  const Place place = place_of(args);
  if (place.column >= args.heads + gradients.filler) return;
  T* d_columns = static_cast<T*>(gradients.d_columns) + place.column;
  const bool none = static_cast<int64_t>(blockIdx.y) == args.sequences;
  if (none || place.column >= args.heads) {
    for (int at = place.lane; at < place.length; at += 32)
      d_columns[(place.begin + at) * args.stride] = from_float<T>(0.0f);
    return;
  }
  const T* columns = static_cast<const T*>(args.columns) + place.column;
  const float constant = args.constant[place.column];
  float behind = 0;  // gradients of the biases behind
  float total = 0;
#pragma unroll 4
  for (int first = (place.length - 1) / 32 * 32; first >= 0; first -= 32) {
    const bool valid = first + place.lane < place.length;
    const int64_t token = place.begin + first + place.lane;
    float sum = valid ? gradients.d_bias[token * args.heads + place.column] : 0.0f;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const float more = __shfl_down_sync(kAll, sum, step);
      if (place.lane + step < 32) sum += more;
    }
    sum += behind;
    behind = __shfl_sync(kAll, sum, 0);
    if (!valid) continue;
    const float z = args.sign * (as_float(columns[token * args.stride]) + constant);
    const float gradient = -args.sign * sum / (1.0f + expf(z));
    d_columns[token * args.stride] = from_float<T>(gradient);
    total += gradient;
  }
  total = warp_sum(total);
  if (place.lane == 0) gradients.constant_parts[static_cast<int64_t>(blockIdx.y) * args.heads + place.column] = total;
}

void check(const KeyDecay& args) {
  require(args.sequences + 1 <= 65535, "a decay of keys runs at most 65534 sequences");
}

dim3 grid_of(int64_t columns, int64_t rows) {
  return {static_cast<unsigned>((columns + kWarps - 1) / kWarps), static_cast<unsigned>(rows)};
}

}  // namespace

void key_decay_forward(const KeyDecay& args, float* bias, cudaStream_t stream) {
  check(args);
  if (args.sequences == 0) return;
  launch("key_decay", args.storage == Storage::float32 ? forward<float> : forward<bf16>,
         grid_of(args.heads, args.sequences), kBlock, 0, stream, args, bias);
}

void key_decay_backward(const KeyDecay& args, const KeyDecayGradients& gradients, cudaStream_t stream) {
  check(args);
  launch("key_decay_backward", args.storage == Storage::float32 ? backward<float> : backward<bf16>,
         grid_of(args.heads + gradients.filler, args.sequences + 1), kBlock, 0, stream, args, gradients);
}

}  // namespace lengthwise::gpu
