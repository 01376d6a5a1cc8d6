#include <algorithm>
#include <type_traits>

#include "gpu_kernels/norm.cuh"

namespace lengthwise::gpu {
namespace {

/// Two blocks for every multiprocessor of the largest device, and few enough parts for the sum over them.
constexpr int64_t kMostParts = 264;

__device__ __forceinline__ float4 times(float4 a, float4 b) {
  return make_float4(a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w);
}
__device__ __forceinline__ float4 times(float4 a, float b) {
  return make_float4(a.x * b, a.y * b, a.z * b, a.w * b);
}
__device__ __forceinline__ void add(float4& to, float4 more) {
  to.x += more.x;
  to.y += more.y;
  to.z += more.z;
  to.w += more.w;
}
__device__ __forceinline__ float sum_of(float4 x) {
  return x.x + x.y + x.z + x.w;
}

// Where a product is added, it is said to be one operation: left to the compiler, two variants of a kernel might round
// differently.
__device__ __forceinline__ void add_product(float4& to, float4 a, float4 b) {
  to = make_float4(fmaf(a.x, b.x, to.x), fmaf(a.y, b.y, to.y), fmaf(a.z, b.z, to.z), fmaf(a.w, b.w, to.w));
}
__device__ __forceinline__ void add_product(float4& to, float4 a, float b) {
  add_product(to, a, make_float4(b, b, b, b));
}
__device__ __forceinline__ float dot_of(float4 a, float4 b) {
  return fmaf(a.w, b.w, fmaf(a.z, b.z, fmaf(a.y, b.y, a.x * b.x)));
}

/// x / gain, or `otherwise` where the gain is too small for it.
__device__ __forceinline__ float over(float x, float gain, float otherwise) {
  return fabsf(gain) >= kSmallGain ? divide_fast(x, gain) : otherwise;
}
__device__ __forceinline__ float4 over(float4 x, float4 gain, float4 otherwise) {
  return make_float4(over(x.x, gain.x, otherwise.x), over(x.y, gain.y, otherwise.y), over(x.z, gain.z, otherwise.z),
                     over(x.w, gain.w, otherwise.w));
}
/// x, or `small` where the gain is.
__device__ __forceinline__ float4 unless_small(float4 x, float4 gain, float4 small) {
  return make_float4(fabsf(gain.x) >= kSmallGain ? x.x : small.x, fabsf(gain.y) >= kSmallGain ? x.y : small.y,
                     fabsf(gain.z) >= kSmallGain ? x.z : small.z, fabsf(gain.w) >= kSmallGain ? x.w : small.w);
}

/// Where the backward pass learns from what a norm saw: its input; its result, which is divided by the gain; or its
/// result and, in the columns whose gain is too small to divide by, its input.
enum class Seen { sum, normed, either };

/// With `unit` = sum * inverse: d_sum += inverse * (g * gain - unit * mean(g * gain * unit)), d_gain += g * unit.
/// From the result, unit * gain is what is read, and the sum for d_gain is divided by the gain once, at its end.
template <class T, int kRow, int kChunks, Seen kSeen>
__global__ void __launch_bounds__(kNormBlock, kChunks <= 6 ? 2 : 1) backward(AddNormBackward args) {
  begin();
  constexpr int kGroups = kNormBlock / kRow;
  constexpr bool kFromNormed = kSeen != Seen::sum;
  using Held = std::conditional_t<kFromNormed, T, float>;
  __shared__ float scratch[kNormBlock / 32];
  float* group_sums = reinterpret_cast<float*>(dynamic_shared());  // [group, width], with more than one group
  const int group = threadIdx.x / kRow;
  const int lane = threadIdx.x % kRow;
  const auto width = static_cast<int>(args.width);
  const T* d_normed = static_cast<const T*>(args.d_normed);
  const Held* seen = static_cast<const Held*>(kFromNormed ? args.normed : args.sum);
  T* d_branch = static_cast<T*>(args.d_branch);
  const int64_t real = args.rows == nullptr ? args.capacity : *args.rows;
  const Mask mask(args.dropout);
  const Mask normed_mask(args.normed_dropout);
  float4 gain_sum[kChunks];
#pragma unroll
  for (int k = 0; k < kChunks; ++k) gain_sum[k] = make_float4(0, 0, 0, 0);
  // Whole groups take part in every turn, because block_sum waits for all threads of a row.
  for (int64_t row = static_cast<int64_t>(blockIdx.x) * kGroups + group; row < args.capacity;
       row += static_cast<int64_t>(gridDim.x) * kGroups) {
    const int64_t base = row * args.width;
    if (row >= real) {
#pragma unroll
      for (int k = 0; k < kChunks; ++k) {
        const int column = 4 * (lane + k * kRow);
        if (column >= width) continue;
        store(args.d_sum + base + column, make_float4(0, 0, 0, 0));
        if (d_branch != nullptr) store(d_branch + base + column, make_float4(0, 0, 0, 0));
      }
      continue;
    }
    typename Four<T>::Vector stored[kChunks];
    typename Four<Held>::Vector held[kChunks];
    float4 d_sum[kChunks];
#pragma unroll
    for (int k = 0; k < kChunks; ++k) {
      const int column = 4 * (lane + k * kRow);
      d_sum[k] = make_float4(0, 0, 0, 0);
      if (column >= width) continue;
      stored[k] = fetch(d_normed + base + column);
      held[k] = fetch(seen + base + column);
      if (args.accumulate) d_sum[k] = fetch(args.d_sum + base + column);
    }
    const float inverse = args.inverse[row];
    const uint32_t normed_key = !kFromNormed && normed_mask.active() ? normed_mask.row(static_cast<uint64_t>(row)) : 0;
    const auto gradient = [&](int k) {
      float4 g = widen(stored[k]);
      if (kFromNormed) return g;  // such a norm has neither dropout nor a scale behind it
      if (normed_mask.active()) g = normed_mask.apply(g, normed_key, static_cast<uint32_t>(4 * (lane + k * kRow)));
      return times(g, args.normed_scale);
    };
    float dot = 0;
#pragma unroll
    for (int k = 0; k < kChunks; ++k) {
      const int column = 4 * (lane + k * kRow);
      if (column >= width) continue;
      const float4 g = gradient(k);
      const float4 h = widen(held[k]);
      if constexpr (kSeen == Seen::normed) {
        dot += dot_of(g, h);
        add_product(gain_sum[k], g, h);
      } else if constexpr (kSeen == Seen::either) {
        dot += dot_of(g, h);
        const float4 unit = times(fetch(args.sum + base + column), inverse);
        add_product(gain_sum[k], g, unless_small(h, fetch(args.gain + column), unit));
      } else {
        // The gain is fetched again below: kept, it would cost registers that there are not.
        const float4 product = times(g, h);
        dot += sum_of(times(product, fetch(args.gain + column))) * inverse;
        add(gain_sum[k], times(product, inverse));
      }
    }
    const float mean = block_sum<kRow>(dot, scratch) / static_cast<float>(width);
#pragma unroll
    for (int k = 0; k < kChunks; ++k) {
      const int column = 4 * (lane + k * kRow);
      if (column >= width) continue;
      const float4 gain = fetch(args.gain + column);
      float4 unit = make_float4(0, 0, 0, 0);
      if constexpr (kSeen == Seen::either) unit = times(fetch(args.sum + base + column), inverse);
      unit = kFromNormed ? over(widen(held[k]), gain, unit) : times(widen(held[k]), inverse);
      add_product(d_sum[k], times(gradient(k), gain), inverse);
      add_product(d_sum[k], unit, -mean * inverse);
      store(args.d_sum + base + column, d_sum[k]);
    }
    if (d_branch == nullptr) continue;
    if (mask.active()) {
      const uint32_t key = mask.row(static_cast<uint64_t>(row));
#pragma unroll
      for (int k = 0; k < kChunks; ++k) {
        d_sum[k] = mask.apply(d_sum[k], key, static_cast<uint32_t>(4 * (lane + k * kRow)));
      }
    }
#pragma unroll
    for (int k = 0; k < kChunks; ++k) {
      const int column = 4 * (lane + k * kRow);
      if (column < width) store(d_branch + base + column, d_sum[k]);
    }
  }
#pragma unroll
  for (int k = 0; k < kChunks; ++k) {
    const int column = 4 * (lane + k * kRow);
    if (!kFromNormed || column >= width) continue;
    const float4 otherwise = kSeen == Seen::either ? gain_sum[k] : make_float4(0, 0, 0, 0);
    gain_sum[k] = over(gain_sum[k], fetch(args.gain + column), otherwise);
  }
  float* part = args.gain_parts + static_cast<int64_t>(blockIdx.x) * args.width;
  if constexpr (kGroups == 1) {
#pragma unroll
    for (int k = 0; k < kChunks; ++k) {
      const int column = 4 * (lane + k * kRow);
      if (column < width) store(part + column, gain_sum[k]);
    }
  } else {
#pragma unroll
    for (int k = 0; k < kChunks; ++k) {
      const int column = 4 * (lane + k * kRow);
      if (column < width) store(group_sums + group * width + column, gain_sum[k]);
    }
    __syncthreads();
    for (int column = static_cast<int>(threadIdx.x); column < width; column += kNormBlock) {
      float sum = group_sums[column];
      for (int other = 1; other < kGroups; ++other) sum += group_sums[other * width + column];
      part[column] = sum;
    }
  }
}

}  // namespace

void add_norm_backward(const AddNormBackward& args, cudaStream_t stream) {
  require(args.normed == nullptr || (!args.normed_dropout.active() && args.normed_scale == 1),
          "what a norm saw cannot be told from its result behind dropout or a scale");
  with_norm_shape(args, [&]<class T, int kRow, int kChunks>() {
    constexpr int kGroups = kNormBlock / kRow;
    const size_t shared = kGroups > 1 ? static_cast<size_t>(kGroups * args.width) * sizeof(float) : 0;
    launch("add_norm_backward",
           args.normed == nullptr ? backward<T, kRow, kChunks, Seen::sum>
           : args.sum == nullptr  ? backward<T, kRow, kChunks, Seen::normed>
                                  : backward<T, kRow, kChunks, Seen::either>,
           static_cast<unsigned>(add_norm_parts(args.capacity)), kNormBlock, shared, stream, args);
  });
}

int64_t add_norm_parts(int64_t capacity) {
  return std::min(kMostParts, (capacity + kNormBlock / 32 - 1) / (kNormBlock / 32));
}

}  // namespace lengthwise::gpu
