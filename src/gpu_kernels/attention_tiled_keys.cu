#include "gpu_kernels/attention_kernels.h"
#include "gpu_kernels/attention_tiled.cuh"
#include "gpu_kernels/attention_tiled_backward.h"

namespace lengthwise::gpu {
namespace {

constexpr int kHalf = 32;  ///< queries at a time, for fewer registers
constexpr int kCount = kHalf / 8;

template <int kDim>
constexpr size_t shared_bytes() {
  return 6 * kTileSize<kDim> * sizeof(bf16) + 2 * (kStrip + 3 * kRows) * sizeof(float);
}

/// d_k and d_v of one tile of keys: rows of the fragments are keys, columns queries.
template <int kDim, bool kBias>
__global__ void __launch_bounds__(kTiledThreads) keys_kernel(Attention args, AttentionGradients gradients) {
  begin();
  bf16* k = reinterpret_cast<bf16*>(dynamic_shared());
  bf16* v = k + kTileSize<kDim>;
  bf16* queries = v + kTileSize<kDim>;  // two tiles
  bf16* d_outs = queries + 2 * kTileSize<kDim>;
  float* strips = reinterpret_cast<float*>(d_outs + 2 * kTileSize<kDim>);
  float* log_sums = strips + 2 * kStrip;
  float* deltas = log_sums + 2 * kRows;
  uint32_t* row_keys = reinterpret_cast<uint32_t*>(deltas + 2 * kRows);
  const int head = static_cast<int>(blockIdx.x);
  bf16* d_qkv = static_cast<bf16*>(gradients.d_qkv);
  if (blockIdx.y + 1 == gridDim.y) return clear_rows(args, head, d_qkv, 3);
  const auto [sequence, place] = item_at(args, static_cast<int>(blockIdx.y));
  if (sequence.length <= 0) return;
  const int tiles = (sequence.length + kRows - 1) / kRows;
  // The plan's first tiles are the costly ones; for keys these are the first of a sequence.
  const int tile = tiles - 1 - place;
  const auto thread = static_cast<int>(threadIdx.x);
  const auto dim = static_cast<int>(args.dim);
  const int64_t part = args.heads * args.dim;
  const bf16* from = static_cast<const bf16*>(args.qkv) + sequence.begin * 3 * part + head * dim;
  const bf16* d_out = static_cast<const bf16*>(gradients.d_out) + sequence.begin * part + head * dim;
  const int first = tile * kRows;
  const int rows = min(kRows, sequence.length - first);
  const Mask mask(args.dropout);
  const auto copy_queries = [&](int query_tile) {
    const int buffer = query_tile % 2;
    const int begin_at = query_tile * kRows;
    const int count = min(kRows, sequence.length - begin_at);
    copy_tile<kDim, kRows, kTiledThreads>(queries + buffer * kTileSize<kDim>,
                                          from + static_cast<int64_t>(begin_at) * 3 * part, 3 * part, count, dim);
    copy_tile<kDim, kRows, kTiledThreads>(d_outs + buffer * kTileSize<kDim>,
                                          d_out + static_cast<int64_t>(begin_at) * part, part, count, dim);
    if constexpr (kBias) copy_strip(strips + buffer * kStrip, args, head, (query_tile - tile) * kRows - (kRows - 1));
    if (thread < kRows) {
      const bool valid = thread < count;
      const int64_t at = (sequence.begin + begin_at + (valid ? thread : 0)) * args.heads + head;
      copy_async_word(log_sums + buffer * kRows + thread, gradients.log_sum + at, valid);
      copy_async_word(deltas + buffer * kRows + thread, gradients.delta + at, valid);
      if (mask.active()) row_keys[buffer * kRows + thread] = mask.row(static_cast<uint64_t>(at));
    }
    copies_commit();
  };
  copy_tile<kDim, kRows, kTiledThreads>(k, from + part + static_cast<int64_t>(first) * 3 * part, 3 * part, rows, dim);
  copy_tile<kDim, kRows, kTiledThreads>(v, from + 2 * part + static_cast<int64_t>(first) * 3 * part, 3 * part, rows,
                                        dim);
  copy_queries(tile);
  const int warp = thread / 32;
  const int quad = thread % 4;
  const int row = 16 * warp + thread % 32 / 4;
  float d_k[kDim / 8][4], d_v[kDim / 8][4];
  clear(d_k);
  clear(d_v);
  for (int query_tile = tile; query_tile < tiles; ++query_tile) {
    const int buffer = query_tile % 2;
    bf16* q = queries + buffer * kTileSize<kDim>;
    const bf16* d_o = d_outs + buffer * kTileSize<kDim>;
    const float* strip = strips + buffer * kStrip;
    if (query_tile + 1 < tiles) {
      copy_queries(query_tile + 1);
      copies_wait<1>();
    } else {
      copies_wait<0>();
    }
    const int count = min(kRows, sequence.length - query_tile * kRows);
    if (args.pairs > 0) {
      if (query_tile == tile) rotate_tile<kDim, kRows, kTiledThreads>(k, args, sequence.begin + first, rows);
      rotate_tile<kDim, kRows, kTiledThreads>(q, args, sequence.begin + query_tile * kRows, count);
    }
    __syncthreads();
    const bool diagonal = query_tile == tile;
    const bool masked = diagonal || count < kRows;
#pragma unroll 1
    for (int half = 0; half < count; half += kHalf) {
      // On the diagonal only the queries from the warp's own block on see its keys.
      if (16 * warp >= rows || (diagonal && half + kHalf <= 16 * warp)) continue;
      float s[kCount][4], d_s[kCount][4];
      clear(s);
      clear(d_s);
      products_of_rows<kDim>(s, k, 16 * warp, q, half, kCount);
      products_of_rows<kDim>(d_s, v, 16 * warp, d_o, half, kCount);
#pragma unroll
      for (int n = 0; n < kCount; ++n) {
        const int pair = half + 8 * n + 2 * quad;
        const float2 log_sum = *reinterpret_cast<const float2*>(log_sums + buffer * kRows + pair);
        const float2 delta = *reinterpret_cast<const float2*>(deltas + buffer * kRows + pair);
        uint2 keys = make_uint2(0, 0);
        if (mask.active()) keys = *reinterpret_cast<const uint2*>(row_keys + buffer * kRows + pair);
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const int query = pair + e % 2;
          const int key = row + e / 2 * 8;
          float score = s[n][e] * args.scale;
          if constexpr (kBias) score += strip[query - key + kRows - 1];
          float weight = exp2_fast((score - (e % 2 == 0 ? log_sum.x : log_sum.y)) * kLog2e);
          if (masked && (query >= count || (diagonal && query < key))) weight = 0;
          float factor = 1;
          if (mask.active()) factor = mask.at(e % 2 == 0 ? keys.x : keys.y, static_cast<uint32_t>(first + key));
          d_s[n][e] = weight * (d_s[n][e] * factor - (e % 2 == 0 ? delta.x : delta.y));
          s[n][e] = weight * factor;
        }
      }
#pragma unroll
      for (int n = 0; n < kCount; n += 2) {
        uint32_t a[4];
        as_a(a, s[n], s[n + 1]);
        weigh_rows<kDim>(d_v, a, d_o, half + 8 * n);
        as_a(a, d_s[n], d_s[n + 1]);
        weigh_rows<kDim>(d_k, a, q, half + 8 * n);
      }
    }
    __syncthreads();
  }
  if (16 * warp >= rows) return;
  const int64_t token = sequence.begin + first + row;
  bf16* to = d_qkv + token * 3 * part + head * dim;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const bool valid = row + 8 * r < rows;
    if (valid && args.pairs > 0) rotate_back<kDim>(d_k, args, r, token + 8 * r);
    store_row<kDim>(d_k, r, args.scale, to + part + 8 * r * 3 * part, dim, valid);
    store_row<kDim>(d_v, r, 1.0f, to + 2 * part + 8 * r * 3 * part, dim, valid);
  }
}

template <int kDim>
void run(const Attention& args, const AttentionGradients& gradients, cudaStream_t stream) {
  launch("attention_backward of keys", args.table != nullptr ? keys_kernel<kDim, true> : keys_kernel<kDim, false>,
         dim3(static_cast<unsigned>(args.heads), static_cast<unsigned>(plan_capacity(args, kRows) + 1)), kTiledThreads,
         shared_bytes<kDim>(), stream, args, gradients);
}

}  // namespace

void tiled_attention_keys(const Attention& args, const AttentionGradients& gradients, cudaStream_t stream) {
  if (args.dim <= 16) return run<16>(args, gradients, stream);
  if (args.dim <= 32) return run<32>(args, gradients, stream);
  if (args.dim <= 64) return run<64>(args, gradients, stream);
  run<128>(args, gradients, stream);
}

void tiled_attention_backward(const Attention& args, const AttentionGradients& gradients, int64_t slots,
                              cudaStream_t stream) {
  tiled_attention_queries(args, gradients, slots, stream);
  tiled_attention_keys(args, gradients, stream);
}

}  // namespace lengthwise::gpu
