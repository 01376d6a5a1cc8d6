#include "gpu_kernels/attention_small.cuh"

namespace lengthwise::gpu {
namespace {

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
  if (kHasTable<kTerms> && gradients.table_parts != nullptr) {
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
    float contents[kHasFactors<kTerms> ? kParts : 1][4][4];  // <q, k>
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
      const TileBiases<kTerms> of_pairs(pairs, row, 32 * p + 2 * quad, length);
      clear(s[p]);
      clear(d_s[p]);
      add_scores<kDim>(s[p], q, 16 * warp, k, 32 * p);
      add_scores<kDim>(d_s[p], d_o, 16 * warp, v, 32 * p);
#pragma unroll
      for (int n = 0; n < 4; ++n) {
        float dropped[4];
        const PairBits<kDrops> bits(row_keys, column + Mask::pair_key(static_cast<uint32_t>(16 * p + 4 * n)));
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const int offset = 32 * p + 8 * n + e % 2;
          const int distance = row + e / 2 * 8 - offset - 2 * quad;
          const float x = units.adjusted(s[p][n][e], factors[e / 2], bias + max(distance, 0),
                                         key_bias<kTerms, kTokens>(bias, offset + 2 * quad) + of_pairs.at(n, e));
          const bool seen = distance >= 0 && !units.unseen(distance);
          const float weight = seen ? exp2_fast(x * units.power - shift[e / 2]) : 0.0f;
          const bool kept = bits.kept(mask, e);
          if constexpr (kHasFactors<kTerms>) contents[p][n][e] = s[p][n][e];
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
      const TileBiases<kTerms> before(d_pairs, row, 32 * p + 2 * quad, length);
#pragma unroll
      for (int n = 0; n < 4; n += 2) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          s[p][n][e] *= d_s[p][n][e] - dot[e / 2];
          s[p][n + 1][e] *= d_s[p][n + 1][e] - dot[e / 2];
        }
        if constexpr (kHasFactors<kTerms>) {
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            d_factor[e / 2] += s[p][n][e] * contents[p][n][e] + s[p][n + 1][e] * contents[p][n + 1][e];
          }
        }
        before.add_to(d_pairs, row, 32 * p + 2 * quad, length, n, s[p][n]);
        before.add_to(d_pairs, row, 32 * p + 2 * quad, length, n + 1, s[p][n + 1]);
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
    store_query_gradients<kDim, kTerms>(d_q, factors, d_factor, args, gradients, head, token, length - row);
  }
  __syncthreads();
  if constexpr (kHasFactors<kTerms>) scale_queries<kDim, kTokens>(q, args, sequence, length, head);

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
  if constexpr (kHasKeys<kTerms>) {
    // Two neighbouring threads add up the gradients of a key's scores, every other query each.
    const int key = thread / 2;
    float sum = 0;
    for (int query = key + thread % 2; query < length; query += 2)
      sum += as_float(d_scores[query * kSquareStride + key]);
    sum += __shfl_xor_sync(kAll, sum, 1);
    if (gradients.d_key_bias != nullptr && key < length && thread % 2 == 0)
      gradients.d_key_bias[(sequence.begin + key) * args.heads + head] = sum;
  }
  if (!kHasTable<kTerms> || table_part == nullptr) return;
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

}  // namespace

void small_attention_backward(const Attention& args, const AttentionGradients& gradients, cudaStream_t stream) {
  with_small_variant(args, [&]<int kDim, int kTokens, Terms kTerms, bool kDrops>() {
    launch("attention_backward", backward<kDim, kTokens, kTerms, kDrops>, small_grid(args), 2 * kTokens,
           small_shared_bytes<kDim, kTokens, kTerms>(4, 2), stream, args, gradients);
  });
}

}  // namespace lengthwise::gpu
