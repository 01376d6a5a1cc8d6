#pragma once
/// What the float kernels of attention share: tiles of 32 rows in shared memory, four threads to a row.
///
/// Thread t has row t / 4 of its own tile; of the other tile's 32 rows it has t % 4, t % 4 + 4, ... (8 scores), and of
/// a result's columns the chunks of four t % 4, t % 4 + 4, ... (kDim / 16 chunks).
#include "gpu_kernels/attention_device.cuh"

namespace lengthwise::gpu {

inline constexpr int kFloatRows = kFloatAttentionTile;
inline constexpr int kFloatThreads = 4 * kFloatRows;
inline constexpr int kScores = kFloatRows / 4;
inline constexpr int kSquareStride = kFloatRows + 1;

/// Floats from one row of a tile to the next.
template <int kDim>
inline constexpr int kFloatStride = kDim + 4;
template <int kDim>
inline constexpr int kFloatTile = kFloatRows* kFloatStride<kDim>;

/// Rows of one head, zeros where there are none.
template <int kDim>
__device__ __forceinline__ void load_tile(float* tile, const float* from, int64_t row_stride, int rows, int64_t dim) {
  const int row = static_cast<int>(threadIdx.x) / 4;
#pragma unroll
  for (int c = static_cast<int>(threadIdx.x) % 4 * 4; c < kDim; c += 16) {
    float4 x = make_float4(0, 0, 0, 0);
    if (row < rows && c < dim) x = fetch(from + row * row_stride + c);
    store(tile + row * kFloatStride<kDim> + c, x);
  }
}

/// s[i] = <own row of x, row 4 i + t % 4 of y>.
template <int kDim>
__device__ __forceinline__ void dot_products(float (&s)[kScores], const float* x, const float* y) {
  const float* own = x + threadIdx.x / 4 * kFloatStride<kDim>;
  const float* other = y + threadIdx.x % 4 * kFloatStride<kDim>;
#pragma unroll
  for (int i = 0; i < kScores; ++i) s[i] = 0;
#pragma unroll 4
  for (int c = 0; c < kDim; c += 4) {
    const float4 a = fetch(own + c);
#pragma unroll
    for (int i = 0; i < kScores; ++i) {
      const float4 b = fetch(other + 4 * i * kFloatStride<kDim> + c);
      s[i] += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    }
  }
}

template <int kDim>
struct Result {
  float4 chunks[kDim / 16];

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int k = 0; k < kDim / 16; ++k) chunks[k] = make_float4(0, 0, 0, 0);
  }

  __device__ __forceinline__ void scale(float factor) {
#pragma unroll
    for (int k = 0; k < kDim / 16; ++k) {
      chunks[k].x *= factor;
      chunks[k].y *= factor;
      chunks[k].z *= factor;
      chunks[k].w *= factor;
    }
  }

  /// += sum over the 32 rows of y of weights[own row][j] y[j].
  __device__ __forceinline__ void add(const float* weights, const float* y) {
    const float* own = weights + threadIdx.x / 4 * kSquareStride;
    const float* column = y + threadIdx.x % 4 * 4;
#pragma unroll 4
    for (int j = 0; j < kFloatRows; ++j) {
      const float weight = own[j];
#pragma unroll
      for (int k = 0; k < kDim / 16; ++k) {
        const float4 b = fetch(column + j * kFloatStride<kDim> + 16 * k);
        chunks[k].x += weight * b.x;
        chunks[k].y += weight * b.y;
        chunks[k].z += weight * b.z;
        chunks[k].w += weight * b.w;
      }
    }
  }

  /// Writes the own row times `factor`, rotated back where `token` is not negative.
  __device__ __forceinline__ void store_to(float* to, float factor, const Attention& args, Turn turn, int64_t token) {
    scale(factor);
#pragma unroll
    for (int k = 0; k < kDim / 16; ++k) {
      const int c = static_cast<int>(threadIdx.x) % 4 * 4 + 16 * k;
      if (c >= args.dim) continue;
      float4 x = chunks[k];
      const int64_t angle = token * args.pairs + c / 2;
      if (token >= 0 && c / 2 < args.pairs) {
        const float cos = turn.cos[angle];
        const float sin = turn.sin[angle];
        x = make_float4(x.x * cos + x.y * sin, x.y * cos - x.x * sin, x.z, x.w);
      }
      if (token >= 0 && c / 2 + 1 < args.pairs) {
        const float cos = turn.cos[angle + 1];
        const float sin = turn.sin[angle + 1];
        x = make_float4(x.x, x.y, x.z * cos + x.w * sin, x.w * cos - x.z * sin);
      }
      store(to + c, x);
    }
  }
};

/// The score of a query and a key at these places of the sequence; -inf where it is not seen.
__device__ __forceinline__ float full_score(const Attention& args, const PairBiases& pairs, float content,
                                            Sequence sequence, int head, int query_place, int key_place) {
  const int64_t query = sequence.begin + query_place;
  const int64_t key = sequence.begin + key_place;
  const auto distance = query - key;
  if (distance < 0 || (args.window > 0 && distance >= args.window)) return -INFINITY;
  float score = content * args.scale;
  if (args.query_scale != nullptr) score *= args.query_scale[query * args.heads + head];
  if (args.table != nullptr && distance < args.distances) score += args.table[head * args.distances + distance];
  if (args.key_bias != nullptr) score += args.key_bias[key * args.heads + head];
  score += pairs.one(query_place, key_place, sequence.length);
  return score;
}

}  // namespace lengthwise::gpu
