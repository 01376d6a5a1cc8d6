#include "gpu_kernels/norm.cuh"

namespace lengthwise::gpu {
namespace {

constexpr float kNormEpsilon = 1e-6f;

template <class T, int kRow, int kChunks>
__global__ void __launch_bounds__(kNormBlock) forward(AddNormForward args) {
  begin();
  __shared__ float scratch[kNormBlock / 32];
  const auto row = static_cast<int64_t>(blockIdx.x) * (kNormBlock / kRow) + threadIdx.x / kRow;
  if (row >= args.capacity) return;
  const int lane = threadIdx.x % kRow;
  const auto width = static_cast<int>(args.width);
  const int64_t base = row * args.width;
  const bool real = args.rows == nullptr || row < *args.rows;
  const T* branch = static_cast<const T*>(args.branch);
  T* normed = static_cast<T*>(args.normed);
  float4 sum[kChunks];
  float4 gain[kChunks];
  typename Four<T>::Vector added[kChunks];
#pragma unroll
  for (int k = 0; k < kChunks; ++k) {
    const int column = 4 * (lane + k * kRow);
    sum[k] = make_float4(0, 0, 0, 0);
    if (column >= width || !real) continue;
    sum[k] = fetch(args.x + base + column);
    if (branch != nullptr) added[k] = fetch(branch + base + column);
    gain[k] = fetch(args.gain + column);
  }
  if (real && branch != nullptr) {
    const Mask mask(args.dropout);
    const uint32_t key = mask.row(static_cast<uint64_t>(row));
#pragma unroll
    for (int k = 0; k < kChunks; ++k) {
      const int column = 4 * (lane + k * kRow);
      if (column >= width) continue;
      float4 more = widen(added[k]);
      if (mask.active()) more = mask.apply(more, key, static_cast<uint32_t>(column));
      sum[k].x += more.x;
      sum[k].y += more.y;
      sum[k].z += more.z;
      sum[k].w += more.w;
    }
  }
  float squares = 0;
#pragma unroll
  for (int k = 0; k < kChunks; ++k) {
    const int column = 4 * (lane + k * kRow);
    if (column < width && (branch != nullptr || args.sum != args.x || !real)) store(args.sum + base + column, sum[k]);
    squares += sum[k].x * sum[k].x + sum[k].y * sum[k].y + sum[k].z * sum[k].z + sum[k].w * sum[k].w;
  }
  squares = block_sum<kRow>(squares, scratch);
  const float inverse = 1.0f / sqrtf(squares / static_cast<float>(width) + kNormEpsilon);
  if (lane == 0) args.inverse[row] = inverse;
  const Mask mask(args.normed_dropout);
  const uint32_t key = mask.active() ? mask.row(static_cast<uint64_t>(row)) : 0;
#pragma unroll
  for (int k = 0; k < kChunks; ++k) {
    const int column = 4 * (lane + k * kRow);
    if (column >= width) continue;
    float4 out = make_float4(0, 0, 0, 0);
    if (real) {
      const float factor = inverse * args.normed_scale;
      out = make_float4(sum[k].x * factor * gain[k].x, sum[k].y * factor * gain[k].y, sum[k].z * factor * gain[k].z,
                        sum[k].w * factor * gain[k].w);
      if (mask.active()) out = mask.apply(out, key, static_cast<uint32_t>(column));
    }
    store(normed + base + column, out);
  }
}

}  // namespace

void add_norm_forward(const AddNormForward& args, cudaStream_t stream) {
  with_norm_shape(args, [&]<class T, int kRow, int kChunks>() {
    constexpr int kGroups = kNormBlock / kRow;
    launch("add_norm_forward", forward<T, kRow, kChunks>,
           static_cast<unsigned>((args.capacity + kGroups - 1) / kGroups), kNormBlock, 0, stream, args);
  });
}

}  // namespace lengthwise::gpu
