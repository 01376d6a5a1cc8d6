#include "gpu_kernels/attention_device.cuh"
#include "gpu_kernels/attention_kernels.h"

namespace lengthwise::gpu {
namespace {

/// Shared memory of a block: `tiles` tiles [token, dim], `squares` tiles [query, key], and the biases.
template <int kDim, int kTokens>
constexpr size_t shared_bytes(int tiles, int squares) {
  return static_cast<size_t>(tiles * kTokens * kTileStride<kDim> + squares * kTokens * kTileStride<kTokens>) *
             sizeof(bf16) +
         kTokens * sizeof(float);
}

/// The scores of a warp's 16 queries against the first 8 * used keys, in units of log2.
template <int kCount>
__device__ __forceinline__ void finish_scores(float (&s)[kCount][4], int row, int quad, const float* bias, float scale) {
#pragma unroll
  for (int n = 0; n < kCount; ++n) {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int query = row + e / 2 * 8;
      const int key = 8 * n + 2 * quad + e % 2;
      const int distance = query - key;
      if (distance < 0) {
        s[n][e] = -INFINITY;
        continue;
      }
      s[n][e] = (s[n][e] * scale + (bias != nullptr ? bias[distance] : 0.0f)) * kLog2e;
    }
  }
}

template <int kDim, int kTokens>
__global__ void __launch_bounds__(2 * kTokens) forward(Attention args, bf16* out, float* log_sum) {
  begin();
  constexpr int kThreads = 2 * kTokens;
  constexpr int kCount = kTokens / 8;
  constexpr int kTile = kTokens * kTileStride<kDim>;
  bf16* q = reinterpret_cast<bf16*>(dynamic_shared());
  bf16* k = q + kTile;
  bf16* v = k + kTile;
  float* bias = reinterpret_cast<float*>(v + kTile);
  const int head = static_cast<int>(blockIdx.x);
  if (blockIdx.y == args.sequences) return clear_results(args, head, out, log_sum);
  const Sequence sequence = sequence_at(args, static_cast<int>(blockIdx.y));
  const int length = min(sequence.length, kTokens);
  if (length <= 0) return;
  const auto dim = static_cast<int>(args.dim);
  const int64_t part = args.heads * args.dim;
  const bf16* from = static_cast<const bf16*>(args.qkv) + sequence.begin * 3 * part + head * dim;
  copy_tile<kDim, kTokens, kThreads>(q, from, 3 * part, length, dim);
  copy_tile<kDim, kTokens, kThreads>(k, from + part, 3 * part, length, dim);
  copy_tile<kDim, kTokens, kThreads>(v, from + 2 * part, 3 * part, length, dim);
  copies_commit();
  if (args.table != nullptr && threadIdx.x < kTokens) {
    bias[threadIdx.x] = static_cast<int>(threadIdx.x) < length ? args.table[head * args.distances + threadIdx.x] : 0.0f;
  }
  const Mask mask(args.dropout);
  copies_wait<0>();
  if (args.pairs > 0) {
    rotate_tile<kDim, kTokens, kThreads>(q, args, sequence.begin, length);
    rotate_tile<kDim, kTokens, kThreads>(k, args, sequence.begin, length);
  }
  __syncthreads();

  const int warp = static_cast<int>(threadIdx.x) / 32;
  if (16 * warp >= length) return;
  const int group = static_cast<int>(threadIdx.x) % 32 / 4;
  const int quad = static_cast<int>(threadIdx.x) % 4;
  const int row = 16 * warp + group;
  const int used = 2 * (warp + 1);
  float s[kCount][4];
  clear(s);
  products_of_rows<kDim>(s, q, 16 * warp, k, 0, used);
  finish_scores(s, row, quad, args.table != nullptr ? bias : nullptr, args.scale);

  float most[2] = {-INFINITY, -INFINITY};
#pragma unroll
  for (int n = 0; n < kCount; ++n) {
    most[0] = fmaxf(most[0], fmaxf(s[n][0], s[n][1]));
    most[1] = fmaxf(most[1], fmaxf(s[n][2], s[n][3]));
  }
  float sum[2] = {0, 0};
  uint32_t keys[2];
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    most[r] = fmaxf(most[r], __shfl_xor_sync(kAll, most[r], 1));
    most[r] = fmaxf(most[r], __shfl_xor_sync(kAll, most[r], 2));
    keys[r] = mask.active() ? mask.row(static_cast<uint64_t>((sequence.begin + row + 8 * r) * args.heads + head)) : 0;
  }
#pragma unroll
  for (int n = 0; n < kCount; ++n) {
    if (n >= used) continue;
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      s[n][e] = exp2_fast(s[n][e] - most[e / 2]);
      sum[e / 2] += s[n][e];
      if (mask.active()) s[n][e] *= mask.at(keys[e / 2], static_cast<uint32_t>(8 * n + 2 * quad + e % 2));
    }
  }
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    sum[r] += __shfl_xor_sync(kAll, sum[r], 1);
    sum[r] += __shfl_xor_sync(kAll, sum[r], 2);
  }
  float o[kDim / 8][4];
  clear(o);
#pragma unroll
  for (int n = 0; n < kCount; n += 2) {
    if (n >= used) continue;
    uint32_t a[4];
    as_a(a, s[n], s[n + 1]);
    weigh_rows<kDim>(o, a, v, 8 * n);
  }
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const bool valid = row + 8 * r < length;
    const int64_t token = sequence.begin + row + 8 * r;
    store_row<kDim>(o, r, 1.0f / sum[r], out + token * part + head * dim, dim, valid);
    if (valid && quad == 0) log_sum[token * args.heads + head] = most[r] / kLog2e + logf(sum[r]);
  }
}

template <int kDim, int kTokens>
__global__ void __launch_bounds__(2 * kTokens) backward(Attention args, AttentionGradients gradients) {
  begin();
  constexpr int kThreads = 2 * kTokens;
  constexpr int kCount = kTokens / 8;
  constexpr int kTile = kTokens * kTileStride<kDim>;
  constexpr int kSquare = kTokens * kTileStride<kTokens>;
  bf16* q = reinterpret_cast<bf16*>(dynamic_shared());
  bf16* k = q + kTile;
  bf16* v = k + kTile;
  bf16* d_o = v + kTile;
  bf16* weights = d_o + kTile;     // [query, key], after dropout
  bf16* d_scores = weights + kSquare;
  float* bias = reinterpret_cast<float*>(d_scores + kSquare);
  const int head = static_cast<int>(blockIdx.x);
  bf16* d_qkv = static_cast<bf16*>(gradients.d_qkv);
  if (blockIdx.y == args.sequences) return clear_rows(args, head, d_qkv, 3);
  const Sequence sequence = sequence_at(args, static_cast<int>(blockIdx.y));
  const int length = min(sequence.length, kTokens);
  const auto thread = static_cast<int>(threadIdx.x);
  const auto longest = static_cast<int>(args.longest);
  float* table_part = nullptr;
  if (gradients.table_parts != nullptr) {
    table_part = gradients.table_parts + (static_cast<int64_t>(blockIdx.y) * args.heads + head) * args.longest;
    for (int m = max(0, length) + thread; m < longest; m += kThreads) table_part[m] = 0;
  }
  if (length <= 0) return;
  const auto dim = static_cast<int>(args.dim);
  const int64_t part = args.heads * args.dim;
  const bf16* from = static_cast<const bf16*>(args.qkv) + sequence.begin * 3 * part + head * dim;
  copy_tile<kDim, kTokens, kThreads>(q, from, 3 * part, length, dim);
  copy_tile<kDim, kTokens, kThreads>(k, from + part, 3 * part, length, dim);
  copy_tile<kDim, kTokens, kThreads>(v, from + 2 * part, 3 * part, length, dim);
  copy_tile<kDim, kTokens, kThreads>(d_o, static_cast<const bf16*>(gradients.d_out) + sequence.begin * part + head * dim,
                                     part, length, dim);
  copies_commit();
  if (args.table != nullptr && thread < kTokens) {
    bias[thread] = thread < length ? args.table[head * args.distances + thread] : 0.0f;
  }
  const int warp = thread / 32;
  const int group = thread % 32 / 4;
  const int quad = thread % 4;
  const int row = 16 * warp + group;
  const int64_t token = sequence.begin + row;
  float log_sum[2];
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    // A query that is not there gets weights of 0.
    log_sum[r] = row + 8 * r < length ? gradients.log_sum[(token + 8 * r) * args.heads + head] * kLog2e : INFINITY;
  }
  const Mask mask(args.dropout);
  copies_wait<0>();
  if (args.pairs > 0) {
    rotate_tile<kDim, kTokens, kThreads>(q, args, sequence.begin, length);
    rotate_tile<kDim, kTokens, kThreads>(k, args, sequence.begin, length);
  }
  __syncthreads();

  const bool busy = 16 * warp < length;
  const int used = 2 * (warp + 1);
  bf16* to = d_qkv + sequence.begin * 3 * part + head * dim;
  if (busy) {
    float s[kCount][4], d_s[kCount][4];
    clear(s);
    clear(d_s);
    products_of_rows<kDim>(s, q, 16 * warp, k, 0, used);
    products_of_rows<kDim>(d_s, d_o, 16 * warp, v, 0, used);
    finish_scores(s, row, quad, args.table != nullptr ? bias : nullptr, args.scale);
    uint32_t keys[2] = {0, 0};
    if (mask.active()) {
      keys[0] = mask.row(static_cast<uint64_t>(token * args.heads + head));
      keys[1] = mask.row(static_cast<uint64_t>((token + 8) * args.heads + head));
    }
    float dot[2] = {0, 0};
    uint32_t* weight_words = reinterpret_cast<uint32_t*>(weights);
    uint32_t* score_words = reinterpret_cast<uint32_t*>(d_scores);
    const auto word_at = [&](int n, int r) { return ((row + 8 * r) * kTileStride<kTokens> + 8 * n + 2 * quad) / 2; };
#pragma unroll
    for (int n = 0; n < kCount; ++n) {
      if (n >= used) continue;
      float dropped[4];
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const float factor =
            mask.active() ? mask.at(keys[e / 2], static_cast<uint32_t>(8 * n + 2 * quad + e % 2)) : 1.0f;
        s[n][e] = exp2_fast(s[n][e] - log_sum[e / 2]);
        dropped[e] = s[n][e] * factor;
        d_s[n][e] *= factor;
        dot[e / 2] += s[n][e] * d_s[n][e];
      }
      weight_words[word_at(n, 0)] = pack(dropped[0], dropped[1]);
      weight_words[word_at(n, 1)] = pack(dropped[2], dropped[3]);
    }
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      dot[r] += __shfl_xor_sync(kAll, dot[r], 1);
      dot[r] += __shfl_xor_sync(kAll, dot[r], 2);
    }
    float d_q[kDim / 8][4];
    clear(d_q);
#pragma unroll
    for (int n = 0; n < kCount; n += 2) {
      if (n >= used) continue;
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        s[n][e] *= d_s[n][e] - dot[e / 2];
        s[n + 1][e] *= d_s[n + 1][e] - dot[e / 2];
      }
      uint32_t a[4];
      as_a(a, s[n], s[n + 1]);
      score_words[word_at(n, 0)] = a[0];
      score_words[word_at(n, 1)] = a[1];
      score_words[word_at(n + 1, 0)] = a[2];
      score_words[word_at(n + 1, 1)] = a[3];
      weigh_rows<kDim>(d_q, a, k, 8 * n);
    }
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const bool valid = row + 8 * r < length;
      if (valid && args.pairs > 0) rotate_back<kDim>(d_q, args, r, token + 8 * r);
      store_row<kDim>(d_q, r, args.scale, to + (row + 8 * r) * 3 * part, dim, valid);
    }
  }
  __syncthreads();

  if (busy) {
    // The warp's rows are now keys; the queries from their own block on see them.
    const int blocks = (length + 15) / 16;
    float d_v[kDim / 8][4];
    clear(d_v);
    for (int block = warp; block < blocks; ++block) {
      uint32_t a[4];
      load_a_transposed<kTileStride<kTokens>>(a, weights, 16 * block, 16 * warp);
      weigh_rows<kDim>(d_v, a, d_o, 16 * block);
    }
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      store_row<kDim>(d_v, r, 1.0f, to + 2 * part + (row + 8 * r) * 3 * part, dim, row + 8 * r < length);
    }
    float d_k[kDim / 8][4];
    clear(d_k);
    for (int block = warp; block < blocks; ++block) {
      uint32_t a[4];
      load_a_transposed<kTileStride<kTokens>>(a, d_scores, 16 * block, 16 * warp);
      weigh_rows<kDim>(d_k, a, q, 16 * block);
    }
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const bool valid = row + 8 * r < length;
      if (valid && args.pairs > 0) rotate_back<kDim>(d_k, args, r, token + 8 * r);
      store_row<kDim>(d_k, r, args.scale, to + part + (row + 8 * r) * 3 * part, dim, valid);
    }
  }
  if (table_part == nullptr) return;
  // Two neighbouring threads add up a diagonal, every other query each.
  const int distance = thread / 2;
  float sum = 0;
  for (int query = distance + thread % 2; query < length; query += 2) {
    sum += as_float(d_scores[query * kTileStride<kTokens> + query - distance]);
  }
  sum += __shfl_xor_sync(kAll, sum, 1);
  if (distance < length && thread % 2 == 0) table_part[distance] = sum;
}

template <int kDim, int kTokens>
void run_forward(const Attention& args, void* out, float* log_sum, cudaStream_t stream) {
  launch("attention_forward", forward<kDim, kTokens>,
         dim3(static_cast<unsigned>(args.heads), static_cast<unsigned>(args.sequences + 1)), 2 * kTokens,
         shared_bytes<kDim, kTokens>(3, 0), stream, args, static_cast<bf16*>(out), log_sum);
}

template <int kDim, int kTokens>
void run_backward(const Attention& args, const AttentionGradients& gradients, cudaStream_t stream) {
  launch("attention_backward", backward<kDim, kTokens>,
         dim3(static_cast<unsigned>(args.heads), static_cast<unsigned>(args.sequences + 1)), 2 * kTokens,
         shared_bytes<kDim, kTokens>(4, 2), stream, args, gradients);
}

/// Calls run.template operator()<dim padded to 16, 32, 64 or 128, tokens padded to 32 or 64>().
template <class Run>
void dispatch(const Attention& args, const Run& run) {
  const auto with_dim = [&]<int kDim>() {
    if (args.longest <= 32) return run.template operator()<kDim, 32>();
    return run.template operator()<kDim, 64>();
  };
  if (args.dim <= 16) return with_dim.template operator()<16>();
  if (args.dim <= 32) return with_dim.template operator()<32>();
  if (args.dim <= 64) return with_dim.template operator()<64>();
  with_dim.template operator()<128>();
}

}  // namespace

void small_attention_forward(const Attention& args, void* out, float* log_sum, cudaStream_t stream) {
  dispatch(args, [&]<int kDim, int kTokens>() { run_forward<kDim, kTokens>(args, out, log_sum, stream); });
}

void small_attention_backward(const Attention& args, const AttentionGradients& gradients, cudaStream_t stream) {
  dispatch(args, [&]<int kDim, int kTokens>() { run_backward<kDim, kTokens>(args, gradients, stream); });
}

}  // namespace lengthwise::gpu
