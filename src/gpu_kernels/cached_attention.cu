#include "gpu_kernels/cached_attention.h"
#include "gpu_kernels/device.cuh"
#include "gpu_kernels/limits.h"

namespace lengthwise::gpu {
namespace {

constexpr int kBlock = 128;
constexpr int kWarps = kBlock / 32;
constexpr int kLanes = 8;  ///< that share a key
constexpr int kKeysAtOnce = kBlock / kLanes;

/// One block for each sequence and head.
template <class T>
__global__ void __launch_bounds__(kBlock)
    store_kernel(KeyValueRows cache, const T* qkv, const int32_t* offsets, int64_t first) {
  begin();
  const auto head = static_cast<int64_t>(blockIdx.x);
  const auto sequence = static_cast<int64_t>(blockIdx.y);
  const int64_t inner = cache.heads * cache.dim;
  const auto chunks = static_cast<int>(cache.dim * static_cast<int64_t>(sizeof(T)) / 16);
  const int32_t start = offsets[sequence];
  const int vectors = (offsets[sequence + 1] - start) * chunks;
  const int64_t row = ((first + sequence) * cache.heads + head) * cache.capacity * cache.dim;
  uint4* keys = reinterpret_cast<uint4*>(static_cast<T*>(cache.keys) + row);
  uint4* values = reinterpret_cast<uint4*>(static_cast<T*>(cache.values) + row);
  for (int i = static_cast<int>(threadIdx.x); i < vectors; i += kBlock) {
    const T* from = qkv + (start + i / chunks) * 3 * inner + head * cache.dim;
    keys[i] = reinterpret_cast<const uint4*>(from + inner)[i % chunks];
    values[i] = reinterpret_cast<const uint4*>(from + 2 * inner)[i % chunks];
  }
}

__device__ __forceinline__ float dot(float4 a, float4 b) {
  return a.x * b.x + a.y * b.y + (a.z * b.z + a.w * b.w);
}

/// The largest of all threads' numbers, for each of them.
__device__ __forceinline__ float block_max(float x, float* scratch) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) x = fmaxf(x, __shfl_xor_sync(kAll, x, step));
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = x;
  __syncthreads();
  x = scratch[0];
#pragma unroll
  for (int w = 1; w < kWarps; ++w) x = fmaxf(x, scratch[w]);
  return x;
}

template <class T>
__global__ void __launch_bounds__(kBlock) attention_kernel(CachedAttention args) {
  begin();
  __shared__ __align__(16) float query[kMostHeadDim];
  __shared__ __align__(16) float parts[4 * kBlock];
  __shared__ float largest[kWarps];
  __shared__ float sums[kWarps];
  float* scores = reinterpret_cast<float*>(dynamic_shared());
  const KeyValueRows& cache = args.cache;
  const auto head = static_cast<int64_t>(blockIdx.x);
  const auto row = static_cast<int64_t>(blockIdx.y);
  const auto thread = static_cast<int>(threadIdx.x);
  const auto dim = static_cast<int>(cache.dim);
  const int64_t inner = cache.heads * cache.dim;
  const int position = args.positions[row];
  const int64_t place = (row * cache.heads + head) * cache.capacity * cache.dim;
  T* keys = static_cast<T*>(cache.keys) + place;
  T* values = static_cast<T*>(cache.values) + place;
  if (thread < dim) {
    const T* fresh = static_cast<const T*>(args.qkv) + row * 3 * inner + head * cache.dim + thread;
    const float factor = args.query_scale != nullptr ? args.query_scale[row * cache.heads + head] : 1.0f;
    query[thread] = as_float(fresh[0]) * (args.scale * factor);
    keys[position * cache.dim + thread] = fresh[inner];
    values[position * cache.dim + thread] = fresh[2 * inner];
  }
  __syncthreads();

  const int lane = thread % kLanes;
  const int oldest = args.window > 0 ? max(0, position - static_cast<int>(args.window) + 1) : 0;
  float most = -INFINITY;
  for (int first = oldest; first <= position; first += kKeysAtOnce) {
    const int key = first + thread / kLanes;
    float score = 0;
    if (key <= position) {
      for (int d = 4 * lane; d < dim; d += 4 * kLanes) {
        score += dot(*reinterpret_cast<const float4*>(query + d), widen(fetch(keys + key * cache.dim + d)));
      }
    }
#pragma unroll
    for (int step = kLanes / 2; step > 0; step /= 2) score += __shfl_xor_sync(kAll, score, step);
    if (key > position) continue;
    if (args.table != nullptr) score += args.table[head * args.distances + position - key];
    if (args.dense != nullptr) score += args.dense[(head * args.dense_places + position) * args.dense_places + key];
    if (lane == 0) scores[key] = score;
    most = fmaxf(most, score);
  }
  most = block_max(most, largest);

  constexpr float kLog2e = 1.44269504f;
  float sum = 0;
  for (int key = oldest + thread; key <= position; key += kBlock) {
    const float weight = exp2_fast((scores[key] - most) * kLog2e);
    scores[key] = weight;
    sum += weight;
  }
  sum = block_sum<kBlock>(sum, sums);

  // Four dims of every n-th key for each thread; the parts are added in their order.
  const int chunks = dim / 4;
  const int groups = kBlock / chunks;
  const int group = thread / chunks;
  if (group < groups) {
    const int d = thread % chunks * 4;
    float4 part = make_float4(0, 0, 0, 0);
#pragma unroll 4
    for (int key = oldest + group; key <= position; key += groups) {
      const float weight = scores[key];
      const float4 value = widen(fetch(values + key * cache.dim + d));
      part = make_float4(part.x + weight * value.x, part.y + weight * value.y, part.z + weight * value.z,
                         part.w + weight * value.w);
    }
    store(parts + group * dim + d, part);
  }
  __syncthreads();
  if (thread >= dim) return;
  float result = parts[thread];
  for (int g = 1; g < groups; ++g) result += parts[g * dim + thread];
  static_cast<T*>(args.out)[row * inner + head * cache.dim + thread] = from_float<T>(result / sum);
}

void check(const KeyValueRows& cache) {
  require(runs_head(cache.dim),
          "cached attention runs heads of 8 to 128 dims in multiples of 8, not " + std::to_string(cache.dim));
  require(cache.capacity <= kMostKeptTokens,
          "cached attention runs up to 50,000 tokens, not " + std::to_string(cache.capacity));
}

dim3 grid_of(const KeyValueRows& cache, int64_t rows) {
  require(rows <= 65535, "a cache has at most 65,535 rows at once, not " + std::to_string(rows));
  return {static_cast<unsigned>(cache.heads), static_cast<unsigned>(rows)};
}

}  // namespace

void store_keys(const KeyValueRows& cache, const void* qkv, const int32_t* offsets, int64_t sequences, int64_t first,
                cudaStream_t stream) {
  check(cache);
  if (sequences == 0) return;
  const auto run = [&]<class T>(T) {
    launch("store_keys", store_kernel<T>, grid_of(cache, sequences), kBlock, 0, stream, cache,
           static_cast<const T*>(qkv), offsets, first);
  };
  if (cache.storage == Storage::float32) return run(float{});
  run(bf16{});
}

void cached_attention(const CachedAttention& args, cudaStream_t stream) {
  check(args.cache);
  require(args.table == nullptr || args.distances >= args.cache.capacity, "a bias table shorter than the cache");
  require(args.dense == nullptr || args.dense_places >= args.cache.capacity, "biases of fewer places than the cache");
  if (args.rows == 0) return;
  const auto shared = static_cast<size_t>(args.cache.capacity) * sizeof(float);
  launch("cached_attention", args.cache.storage == Storage::float32 ? attention_kernel<float> : attention_kernel<bf16>,
         grid_of(args.cache, args.rows), kBlock, shared, stream, args);
}

}  // namespace lengthwise::gpu
