#include "gpu_kernels/attention_device.cuh"
#include "gpu_kernels/attention_kernels.h"

namespace lengthwise::gpu {
namespace {

/// Shared memory of a block: `tiles` tiles [token, dim], `squares` tiles [query, key], and the biases.
template <int kDim, int kTokens, Terms kTerms>
constexpr size_t shared_bytes(int tiles, int squares) {
  return static_cast<size_t>(tiles * kTokens * kTileStride<kDim> + squares * kTokens * kTileStride<kTokens>) *
             sizeof(bf16) +
         (kTerms == Terms::all ? 2 : 1) * kTokens * sizeof(float);
}

/// The table's biases by distance, then those of the keys.
template <Terms kTerms, int kTokens>
__device__ __forceinline__ void load_biases(float* bias, const Attention& args, Sequence sequence, int length,
                                            int head) {
  const auto at = static_cast<int>(threadIdx.x);
  if (kTerms == Terms::none || at >= kTokens) return;
  const bool valid = at < length;
  bias[at] = valid && args.table != nullptr ? args.table[head * args.distances + at] : 0.0f;
  if (kTerms != Terms::all) return;
  bias[kTokens + at] =
      valid && args.key_bias != nullptr ? args.key_bias[(sequence.begin + at) * args.heads + head] : 0.0f;
}

template <Terms kTerms, int kTokens>
__device__ __forceinline__ float key_bias(const float* bias, int key) {
  return kTerms == Terms::all ? bias[kTokens + key] : 0.0f;
}

/// Queries of a tile times their factors: with them, gradients of scores give those of keys.
template <int kDim, int kTokens>
__device__ __forceinline__ void scale_queries(bf16* q, const Attention& args, Sequence sequence, int length, int head) {
  if (args.query_scale == nullptr) return;
  for (int i = static_cast<int>(threadIdx.x); i < length * (kDim / 4); i += 2 * kTokens) {
    const int row = i / (kDim / 4);
    const float factor = args.query_scale[(sequence.begin + row) * args.heads + head];
    bf16* place = q + row * kTileStride<kDim> + i % (kDim / 4) * 4;
    const float4 x = widen(fetch(place));
    store(place, make_float4(x.x * factor, x.y * factor, x.z * factor, x.w * factor));
  }
  __syncthreads();
}

// Keys are taken 32 at a time; a warp leaves out the second 32 when its 16 queries do not see them. Branches within the
// products would keep the loads of one from running beside another.

template <int kDim, int kTokens, Terms kTerms, bool kDrops>
__global__ void __launch_bounds__(2 * kTokens) forward(Attention args, bf16* out, float* log_sum) {
  begin();
  constexpr int kThreads = 2 * kTokens;
  constexpr int kParts = kTokens / 32;
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
  const bf16* from = static_cast<const bf16*>(args.qkv) + sequence.begin * args.qkv_stride + head * dim;
  copy_tile<kDim, kTokens, kThreads>(q, from, args.qkv_stride, length, dim);
  copy_tile<kDim, kTokens, kThreads>(k, from + part, args.qkv_stride, length, dim);
  copies_commit();
  copy_tile<kDim, kTokens, kThreads>(v, from + 2 * part, args.qkv_stride, length, dim);
  copies_commit();
  const auto thread = static_cast<int>(threadIdx.x);
  load_biases<kTerms, kTokens>(bias, args, sequence, length, head);
  const int warp = warp_index();
  const int quad = thread % 4;
  const int row = 16 * warp + thread % 32 / 4;
  const Mask mask(args.dropout);
  uint32_t row_keys[2] = {0, 0};
  float factors[2];
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int64_t place = (sequence.begin + row + 8 * r) * args.heads + head;
    if constexpr (kDrops) row_keys[r] = mask.row(static_cast<uint64_t>(place));
    factors[r] = query_factor<kTerms>(args, place, row + 8 * r < length);
  }
  const ScoreUnits<kTerms> units(args);
  const PairBiases pairs = pair_biases<kTerms>(args, sequence, head);
  copies_wait<1>();
  __syncthreads();

  float s[kParts][4][4];
  float most[2] = {-INFINITY, -INFINITY};
#pragma unroll
  for (int p = 0; p < kParts; ++p) {
    if (32 * p > 16 * warp) continue;
    clear(s[p]);
    add_scores<kDim>(s[p], q, 16 * warp, k, 32 * p);
#pragma unroll
    for (int n = 0; n < 4; ++n) {
      const QuadBiases pairs_of(pairs, row, 32 * p + 8 * n + 2 * quad, length);
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int distance = row + e / 2 * 8 - (32 * p + 8 * n + 2 * quad + e % 2);
        const float x =
            units.adjusted(s[p][n][e], factors[e / 2], bias + max(distance, 0),
                           key_bias<kTerms, kTokens>(bias, 32 * p + 8 * n + 2 * quad + e % 2) + pairs_of.at(e));
        s[p][n][e] = distance < 0 || units.unseen(distance) ? -INFINITY : x;
        most[e / 2] = fmaxf(most[e / 2], s[p][n][e]);
      }
    }
  }
  float shift[2];
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    most[r] = fmaxf(most[r], __shfl_xor_sync(kAll, most[r], 1));
    most[r] = fmaxf(most[r], __shfl_xor_sync(kAll, most[r], 2));
    shift[r] = most[r] * units.power;
  }
  copies_wait<0>();
  __syncthreads();
  if (16 * warp >= length) return;

  float sum[2] = {0, 0};
  float o[kDim / 8][4];
  clear(o);
  const uint32_t column = Mask::pair_key(static_cast<uint32_t>(quad));
#pragma unroll
  for (int p = 0; p < kParts; ++p) {
    if (32 * p > 16 * warp) continue;
#pragma unroll
    for (int n = 0; n < 4; ++n) {
      const PairBits<kDrops> bits(row_keys, column + Mask::pair_key(static_cast<uint32_t>(16 * p + 4 * n)));
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const float weight = exp2_fast(s[p][n][e] * units.power - shift[e / 2]);
        sum[e / 2] += weight;
        s[p][n][e] = bits.kept(mask, e) ? weight : 0.0f;
      }
    }
#pragma unroll
    for (int n = 0; n < 4; n += 2) {
      uint32_t a[4];
      as_a(a, s[p][n], s[p][n + 1]);
      weigh_rows<kDim>(o, a, v, 32 * p + 8 * n);
    }
  }
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    sum[r] += __shfl_xor_sync(kAll, sum[r], 1);
    sum[r] += __shfl_xor_sync(kAll, sum[r], 2);
    const bool valid = row + 8 * r < length;
    const int64_t token = sequence.begin + row + 8 * r;
    store_row<kDim>(o, r, (kDrops ? mask.scale() : 1.0f) / sum[r], out + token * part + head * dim, dim, valid);
    if (valid && quad == 0) log_sum[token * args.heads + head] = units.natural(most[r]) + logf(sum[r]);
  }
}

template <int kDim, int kTokens, Terms kTerms, bool kDrops>
__global__ void __launch_bounds__(2 * kTokens) backward(Attention args, AttentionGradients gradients) {
  begin();
  constexpr int kThreads = 2 * kTokens;
  constexpr int kParts = kTokens / 32;
  constexpr int kTile = kTokens * kTileStride<kDim>;
  constexpr int kSquareStride = kTileStride<kTokens>;
  bf16* q = reinterpret_cast<bf16*>(dynamic_shared());
  bf16* k = q + kTile;
  bf16* v = k + kTile;
  bf16* d_o = v + kTile;
  bf16* weights = d_o + kTile;  // [query, key], after dropout but without its scale
  bf16* d_scores = weights + kTokens * kSquareStride;
  float* bias = reinterpret_cast<float*>(d_scores + kTokens * kSquareStride);
  const int head = static_cast<int>(blockIdx.x);
  bf16* d_qkv = static_cast<bf16*>(gradients.d_qkv);
  if (blockIdx.y == args.sequences) return clear_rows(args, head, d_qkv, 3, args.qkv_stride);
  const Sequence sequence = sequence_at(args, static_cast<int>(blockIdx.y));
  const int length = min(sequence.length, kTokens);
  const auto thread = static_cast<int>(threadIdx.x);
  float* table_part = nullptr;
  if (kTerms != Terms::none && gradients.table_parts != nullptr) {
    table_part = gradients.table_parts + (static_cast<int64_t>(blockIdx.y) * args.heads + head) * args.longest;
    for (int m = max(0, length) + thread; m < args.longest; m += kThreads) table_part[m] = 0;
  }
  if (length <= 0) return;
  const auto dim = static_cast<int>(args.dim);
  const int64_t part = args.heads * args.dim;
  const bf16* from = static_cast<const bf16*>(args.qkv) + sequence.begin * args.qkv_stride + head * dim;
  copy_tile<kDim, kTokens, kThreads>(q, from, args.qkv_stride, length, dim);
  copy_tile<kDim, kTokens, kThreads>(k, from + part, args.qkv_stride, length, dim);
  copy_tile<kDim, kTokens, kThreads>(v, from + 2 * part, args.qkv_stride, length, dim);
  copy_tile<kDim, kTokens, kThreads>(
      d_o, static_cast<const bf16*>(gradients.d_out) + sequence.begin * part + head * dim, part, length, dim);
  copies_commit();
  load_biases<kTerms, kTokens>(bias, args, sequence, length, head);
  const int warp = warp_index();
  const int quad = thread % 4;
  const int row = 16 * warp + thread % 32 / 4;
  const int64_t token = sequence.begin + row;
  const Mask mask(args.dropout);
  float shift[2], factors[2];
  uint32_t row_keys[2] = {0, 0};
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    // A query that is not there gets weights of 0.
    const int64_t place = (token + 8 * r) * args.heads + head;
    shift[r] = row + 8 * r < length ? gradients.log_sum[place] * kLog2e : INFINITY;
    factors[r] = query_factor<kTerms>(args, place, row + 8 * r < length);
    if constexpr (kDrops) row_keys[r] = mask.row(static_cast<uint64_t>(place));
  }
  const ScoreUnits<kTerms> units(args);
  const PairBiases pairs = pair_biases<kTerms>(args, sequence, head);
  const PairBiases d_pairs = pair_gradients<kTerms>(args, gradients.d_dense, sequence, head);
  copies_wait<0>();
  __syncthreads();

  const bool busy = 16 * warp < length;
  bf16* to = d_qkv + sequence.begin * args.qkv_stride + head * dim;
  if (busy) {
    float s[kParts][4][4], d_s[kParts][4][4];
    float contents[kTerms == Terms::all ? kParts : 1][4][4];  // <q, k>
    float dot[2] = {0, 0};
    float d_factor[2] = {0, 0};
    const uint32_t column = Mask::pair_key(static_cast<uint32_t>(quad));
    const auto words_at = [&](bf16* square, int key) {
      return reinterpret_cast<uint32_t*>(square + row * kSquareStride + key) + quad;
    };
    constexpr int kEightRows = 4 * kSquareStride;  // words from the lane's first row to its second
#pragma unroll
    for (int p = 0; p < kParts; ++p) {
      if (32 * p > 16 * warp) continue;
      clear(s[p]);
      clear(d_s[p]);
      add_scores<kDim>(s[p], q, 16 * warp, k, 32 * p);
      add_scores<kDim>(d_s[p], d_o, 16 * warp, v, 32 * p);
#pragma unroll
      for (int n = 0; n < 4; ++n) {
        float dropped[4];
        const PairBits<kDrops> bits(row_keys, column + Mask::pair_key(static_cast<uint32_t>(16 * p + 4 * n)));
        const QuadBiases pairs_of(pairs, row, 32 * p + 8 * n + 2 * quad, length);
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const int offset = 32 * p + 8 * n + e % 2;
          const int distance = row + e / 2 * 8 - offset - 2 * quad;
          const float x = units.adjusted(s[p][n][e], factors[e / 2], bias + max(distance, 0),
                                         key_bias<kTerms, kTokens>(bias, offset + 2 * quad) + pairs_of.at(e));
          const bool seen = distance >= 0 && !units.unseen(distance);
          const float weight = seen ? exp2_fast(x * units.power - shift[e / 2]) : 0.0f;
          const bool kept = bits.kept(mask, e);
          if constexpr (kTerms == Terms::all) contents[p][n][e] = s[p][n][e];
          s[p][n][e] = weight;
          dropped[e] = kept ? weight : 0.0f;
          if constexpr (kDrops) d_s[p][n][e] = kept ? d_s[p][n][e] * mask.scale() : 0.0f;
          dot[e / 2] += weight * d_s[p][n][e];
        }
        uint32_t* words = words_at(weights, 32 * p + 8 * n);
        words[0] = pack(dropped[0], dropped[1]);
        words[kEightRows] = pack(dropped[2], dropped[3]);
      }
    }
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      dot[r] += __shfl_xor_sync(kAll, dot[r], 1);
      dot[r] += __shfl_xor_sync(kAll, dot[r], 2);
    }
    float d_q[kDim / 8][4];
    clear(d_q);
#pragma unroll
    for (int p = 0; p < kParts; ++p) {
      if (32 * p > 16 * warp) continue;
#pragma unroll
      for (int n = 0; n < 4; n += 2) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          s[p][n][e] *= d_s[p][n][e] - dot[e / 2];
          s[p][n + 1][e] *= d_s[p][n + 1][e] - dot[e / 2];
        }
        if constexpr (kTerms == Terms::all) {
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            d_factor[e / 2] += s[p][n][e] * contents[p][n][e] + s[p][n + 1][e] * contents[p][n + 1][e];
          }
#pragma unroll
          for (int m = n; m < n + 2; ++m) {
            const int key = 32 * p + 8 * m + 2 * quad;
            d_pairs.add(row, key, length, s[p][m][0], s[p][m][1]);
            d_pairs.add(row + 8, key, length, s[p][m][2], s[p][m][3]);
          }
        }
        uint32_t a[4];
        as_a(a, s[p][n], s[p][n + 1]);
        uint32_t* words = words_at(d_scores, 32 * p + 8 * n);
        words[0] = a[0];
        words[kEightRows] = a[1];
        words[4] = a[2];
        words[kEightRows + 4] = a[3];
        weigh_rows<kDim>(d_q, a, k, 32 * p + 8 * n);
      }
    }
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const bool valid = row + 8 * r < length;
      if (valid && args.pairs > 0) rotate_back<kDim>(d_q, args, query_turn(args), r, token + 8 * r);
      store_row<kDim>(d_q, r, factors[r], to + (row + 8 * r) * args.qkv_stride, dim, valid);
      if constexpr (kTerms == Terms::all) {
        const float sum = quad_sum(d_factor[r]) * args.scale;
        if (valid && quad == 0 && gradients.d_query_scale != nullptr)
          gradients.d_query_scale[(token + 8 * r) * args.heads + head] = sum;
      }
    }
  }
  __syncthreads();
  if constexpr (kTerms == Terms::all) scale_queries<kDim, kTokens>(q, args, sequence, length, head);

  if (busy) {
    // The warp's rows are now keys; the queries from their own block on see them.
    const int blocks = (length + 15) / 16;
    float d_v[kDim / 8][4];
    clear(d_v);
    for (int block = warp; block < blocks; ++block) {
      uint32_t a[4];
      load_a_transposed<kSquareStride>(a, weights, 16 * block, 16 * warp);
      weigh_rows<kDim>(d_v, a, d_o, 16 * block);
    }
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      store_row<kDim>(d_v, r, kDrops ? mask.scale() : 1.0f, to + 2 * part + (row + 8 * r) * args.qkv_stride, dim,
                      row + 8 * r < length);
    }
    float d_k[kDim / 8][4];
    clear(d_k);
    for (int block = warp; block < blocks; ++block) {
      uint32_t a[4];
      load_a_transposed<kSquareStride>(a, d_scores, 16 * block, 16 * warp);
      weigh_rows<kDim>(d_k, a, q, 16 * block);
    }
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const bool valid = row + 8 * r < length;
      if (valid && args.pairs > 0) rotate_back<kDim>(d_k, args, key_turn(args), r, token + 8 * r);
      store_row<kDim>(d_k, r, args.scale, to + part + (row + 8 * r) * args.qkv_stride, dim, valid);
    }
  }
  if constexpr (kTerms == Terms::all) {
    // Two neighbouring threads add up the gradients of a key's scores, every other query each.
    const int key = thread / 2;
    float sum = 0;
    for (int query = key + thread % 2; query < length; query += 2)
      sum += as_float(d_scores[query * kSquareStride + key]);
    sum += __shfl_xor_sync(kAll, sum, 1);
    if (gradients.d_key_bias != nullptr && key < length && thread % 2 == 0)
      gradients.d_key_bias[(sequence.begin + key) * args.heads + head] = sum;
  }
  if (kTerms == Terms::none || table_part == nullptr) return;
  // Two neighbouring threads add up a diagonal, every other query each.
  const int distance = thread / 2;
  float sum = 0;
#pragma unroll 8
  for (int query = distance + thread % 2; query < length; query += 2) {
    sum += as_float(d_scores[query * kSquareStride + query - distance]);
  }
  sum += __shfl_xor_sync(kAll, sum, 1);
  if (distance < length && thread % 2 == 0) table_part[distance] = sum;
}

/// Calls run.template operator()<dim padded to 16, 32, 64 or 128, tokens padded to 32 or 64, terms, dropout>().
template <class Run>
void dispatch(const Attention& args, const Run& run) {
  with_attention_variant(args, [&]<int kDim, Terms kTerms, bool kDrops>() {
    if (args.longest <= 32) return run.template operator()<kDim, 32, kTerms, kDrops>();
    run.template operator()<kDim, 64, kTerms, kDrops>();
  });
}

dim3 grid_of(const Attention& args) {
  return dim3(static_cast<unsigned>(args.heads), static_cast<unsigned>(args.sequences + 1));
}

}  // namespace

void small_attention_forward(const Attention& args, void* out, float* log_sum, cudaStream_t stream) {
  dispatch(args, [&]<int kDim, int kTokens, Terms kTerms, bool kDrops>() {
    launch("attention_forward", forward<kDim, kTokens, kTerms, kDrops>, grid_of(args), 2 * kTokens,
           shared_bytes<kDim, kTokens, kTerms>(3, 0), stream, args, static_cast<bf16*>(out), log_sum);
  });
}

void small_attention_backward(const Attention& args, const AttentionGradients& gradients, cudaStream_t stream) {
  dispatch(args, [&]<int kDim, int kTokens, Terms kTerms, bool kDrops>() {
    launch("attention_backward", backward<kDim, kTokens, kTerms, kDrops>, grid_of(args), 2 * kTokens,
           shared_bytes<kDim, kTokens, kTerms>(4, 2), stream, args, gradients);
  });
}

}  // namespace lengthwise::gpu
