#include "gpu_kernels/attention_kernels.h"
#include "gpu_kernels/attention_tiled.cuh"
#include "gpu_kernels/attention_tiled_backward.h"
#include "gpu_kernels/pair_map.cuh"

namespace lengthwise::gpu {
namespace {

template <int kDim, Terms kTerms>
constexpr size_t shared_bytes() {
  return 6 * kTileSize<kDim> * sizeof(bf16) + 2 * (kStrip + (kHasFactors<kTerms> ? 4 : 3) * kRows) * sizeof(float);
}

/// d_k and d_v of one tile of keys: rows of the fragments are keys, columns queries.
template <int kDim, Terms kTerms, bool kDrops>
__global__ void __launch_bounds__(kTiledThreads, kBackwardBlocks<kDim>)
    keys_kernel(Attention args, AttentionGradients gradients) {
  begin();
  constexpr int kSpan = kTileSpan<kDim, kTerms>;
  bf16* k = reinterpret_cast<bf16*>(dynamic_shared());
  bf16* v = k + kTileSize<kDim>;
  bf16* queries = v + kTileSize<kDim>;  // two tiles
  bf16* d_outs = queries + 2 * kTileSize<kDim>;
  float* strips = reinterpret_cast<float*>(d_outs + 2 * kTileSize<kDim>);
  float* log_sums = strips + 2 * kStrip;
  float* deltas = log_sums + 2 * kRows;
  uint32_t* row_keys = reinterpret_cast<uint32_t*>(deltas + 2 * kRows);
  float* factors = deltas + 4 * kRows;  // of the queries
  const int head = static_cast<int>(blockIdx.x);
  bf16* d_qkv = static_cast<bf16*>(gradients.d_qkv);
  if (blockIdx.y + 1 == gridDim.y) return clear_rows(args, head, d_qkv, 3, args.qkv_stride);
  const auto [sequence, place] = item_at(args, static_cast<int>(blockIdx.y));
  if (sequence.length <= 0) return;
  const int tiles = (sequence.length + kRows - 1) / kRows;
  // The plan's first tiles are the costly ones; for keys these are the first of a sequence.
  const int tile = tiles - 1 - place;
  const auto thread = static_cast<int>(threadIdx.x);
  const auto dim = static_cast<int>(args.dim);
  const int64_t part = args.heads * args.dim;
  const bf16* from = static_cast<const bf16*>(args.qkv) + sequence.begin * args.qkv_stride + head * dim;
  const bf16* d_out = static_cast<const bf16*>(gradients.d_out) + sequence.begin * part + head * dim;
  const int first = tile * kRows;
  const int rows = min(kRows, sequence.length - first);
  const Mask mask(args.dropout);
  const auto copy_queries = [&](int query_tile) {
    const int buffer = query_tile % 2;
    const int begin_at = query_tile * kRows;
    const int count = min(kRows, sequence.length - begin_at);
    copy_rows<kDim>(queries + buffer * kTileSize<kDim>, from + static_cast<int64_t>(begin_at) * args.qkv_stride,
                    args.qkv_stride, count, dim);
    copy_rows<kDim>(d_outs + buffer * kTileSize<kDim>, d_out + static_cast<int64_t>(begin_at) * part, part, count, dim);
    if constexpr (kHasTable<kTerms>)
      copy_strip(strips + buffer * kStrip, args, head, (query_tile - tile) * kRows - (kRows - 1));
    if constexpr (kHasFactors<kTerms>)
      copy_tokens(factors + buffer * kRows, args.query_scale, args, sequence.begin + begin_at, count, head, 1);
    if (thread < kRows) {
      const bool valid = thread < count;
      const int64_t at = (sequence.begin + begin_at + (valid ? thread : 0)) * args.heads + head;
      copy_async_word(log_sums + buffer * kRows + thread, gradients.log_sum + at, valid);
      copy_async_word(deltas + buffer * kRows + thread, gradients.delta + at, valid);
      if constexpr (kDrops) row_keys[buffer * kRows + thread] = mask.row(static_cast<uint64_t>(at));
    }
    copies_commit();
  };
  copy_rows<kDim>(k, from + part + static_cast<int64_t>(first) * args.qkv_stride, args.qkv_stride, rows, dim);
  copy_rows<kDim>(v, from + 2 * part + static_cast<int64_t>(first) * args.qkv_stride, args.qkv_stride, rows, dim);
  copy_queries(tile);
  const int warp = warp_index();
  const int quad = thread % 4;
  const int row = 16 * warp + thread % 32 / 4;
  const ScoreUnits<kTerms> units(args);
  const TilePairs<kTerms, Order::keys> pairs(args, sequence, head);
  const int end_tile = units.end_tile(first, kRows, tiles);
  float key_bias[2] = {0, 0};
  float d_bias[2] = {0, 0};
  if constexpr (kHasKeys<kTerms>) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      if (args.key_bias != nullptr && row + 8 * r < rows)
        key_bias[r] = args.key_bias[(sequence.begin + first + row + 8 * r) * args.heads + head];
    }
  }
  uint32_t columns[2];  // of the mask: the lane's two keys, which are both odd or both even
  columns[0] = Mask::pair_key(static_cast<uint32_t>((first + row) / 2));
  columns[1] = Mask::pair_key(static_cast<uint32_t>((first + row + 8) / 2));
  const bool odd = row % 2 != 0;
  float d_k[kDim / 8][4], d_v[kDim / 8][4];
  clear(d_k);
  clear(d_v);
  for (int query_tile = tile; query_tile < end_tile; ++query_tile) {
    const int buffer = query_tile % 2;
    const bf16* q = queries + buffer * kTileSize<kDim>;
    const bf16* d_o = d_outs + buffer * kTileSize<kDim>;
    const float* strip = strips + buffer * kStrip + kRows - 1;
    if (query_tile + 1 < end_tile) {
      copy_queries(query_tile + 1);
      copies_wait<1>();
    } else {
      copies_wait<0>();
    }
    group_publish();
    __syncthreads();
    const int count = min(kRows, sequence.length - query_tile * kRows);
    const bool diagonal = query_tile == tile;
    const bool masked = diagonal || count < kRows;
#pragma unroll 1
    for (int span = 0; span < kRows; span += kSpan) {
      if (span >= count) continue;
      const auto of_pairs = pairs.template span<kSpan>(query_tile, tile, span, row, sequence.length);
      float s[kSpan / 8][4], d_s[kSpan / 8][4];
      group_begin();
      multiply_rows<kDim>(s, k, q, span);
      multiply_rows<kDim>(d_s, v, d_o, span);
      group_commit();
      group_wait<0>(s);
      group_wait<0>(d_s);
#pragma unroll
      for (int n = 0; n < kSpan / 8; ++n) {
        const int pair = span + 8 * n + 2 * quad;
        const float2 log_sum = *reinterpret_cast<const float2*>(log_sums + buffer * kRows + pair);
        const float2 delta = *reinterpret_cast<const float2*>(deltas + buffer * kRows + pair);
        uint2 keys = make_uint2(0, 0);
        if constexpr (kDrops) keys = *reinterpret_cast<const uint2*>(row_keys + buffer * kRows + pair);
        const float shifts[2] = {log_sum.x * kLog2e, log_sum.y * kLog2e};
        float2 factor = make_float2(1, 1);
        if constexpr (kHasFactors<kTerms>) factor = *reinterpret_cast<const float2*>(factors + buffer * kRows + pair);
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const int query = pair + e % 2;
          const int key = row + e / 2 * 8;
          const float own = e % 2 == 0 ? factor.x : factor.y;
          const float bias = key_bias[e / 2] + of_pairs.at(n, e);
          const float x = units.adjusted(s[n][e], units.scale * own, strip + query - key, bias);
          float weight = exp2_fast(x * units.power - shifts[e % 2]);
          if (masked && (query >= count || (diagonal && query < key))) weight = 0;
          if (units.unseen((query_tile - tile) * kRows + query - key)) weight = 0;
          float gradient = d_s[n][e];
          s[n][e] = weight;
          if constexpr (kDrops) {
            const bool kept = mask.keeps(Mask::pair_bits(e % 2 == 0 ? keys.x : keys.y, columns[e / 2]), odd);
            s[n][e] = kept ? weight : 0.0f;
            gradient = kept ? gradient * mask.scale() : 0.0f;
          }
          d_s[n][e] = weight * (gradient - (e % 2 == 0 ? delta.x : delta.y));
          if constexpr (kHasKeys<kTerms>) d_bias[e / 2] += d_s[n][e];
          if constexpr (kHasFactors<kTerms>) d_s[n][e] *= own;
        }
      }
      const Weights<kSpan / 8> weights(s);
      const Weights<kSpan / 8> gradients_of_scores(d_s);
      group_begin();
      weights.template add_rows<kDim>(d_v, d_o, span);
      gradients_of_scores.template add_rows<kDim>(d_k, q, span);
      group_commit();
      group_wait<0>(d_v);
      group_wait<0>(d_k);
    }
    __syncthreads();
  }
  store_key_gradients<kDim, kTerms>(d_k, d_v, d_bias, kDrops ? mask.scale() : 1.0f, args, gradients, head,
                                    sequence.begin + first + row, rows - row);
}

}  // namespace

void tiled_attention_keys(const Attention& args, const AttentionGradients& gradients, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>(args.heads), static_cast<unsigned>(plan_capacity(args, kRows) + 1));
  with_tiled_variant(args, [&]<int kDim, Terms kTerms, bool kDrops>() {
    launch("attention_backward of keys", keys_kernel<kDim, kTerms, kDrops>, grid, kTiledThreads,
           shared_bytes<kDim, kTerms>(), stream, args, gradients);
  });
}

void tiled_attention_backward(const Attention& args, const AttentionGradients& gradients, int64_t slots,
                              cudaStream_t stream) {
  AttentionGradients of_queries = gradients;
  if (args.dense_shared) of_queries.d_dense = nullptr;
  const bool learns_pairs = args.dense_shared && gradients.d_dense != nullptr;
  const bool has_room = attention_score_gradients_size(args) > 0;
  if (runs_whole(args) && (has_room || !learns_pairs)) {
    whole_attention_backward(args, gradients, stream);
    if (learns_pairs) attention_pair_sums(args, gradients, stream);
    return;
  }
  tiled_attention_queries(args, of_queries, slots, stream);
  tiled_attention_keys(args, gradients, stream);
  if (learns_pairs) tiled_attention_pairs(args, gradients, stream);
}

}  // namespace lengthwise::gpu
