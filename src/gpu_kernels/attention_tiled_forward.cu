#include "gpu_kernels/attention_kernels.h"
#include "gpu_kernels/attention_key_tiles.cuh"
#include "gpu_kernels/pair_map.cuh"

namespace lengthwise::gpu {
namespace {

template <int kDim, Terms kTerms>
constexpr size_t kSharedBytes = kTileSize<kDim> * sizeof(bf16) + KeyTiles<kDim, kTerms>::kBytes;

template <int kDim, Terms kTerms, bool kDrops>
__global__ void __launch_bounds__(kTiledThreads, kDim <= 64 ? 4 : 3)
    forward(Attention args, bf16* out, float* log_sum) {
  begin();
  bf16* q = reinterpret_cast<bf16*>(dynamic_shared());
  const int head = static_cast<int>(blockIdx.x);
  if (blockIdx.y + 1 == gridDim.y) return clear_results(args, head, out, log_sum);
  const auto [sequence, tile] = item_at(args, static_cast<int>(blockIdx.y));
  if (sequence.length <= 0) return;
  const auto dim = static_cast<int>(args.dim);
  const int64_t part = args.heads * args.dim;
  const bf16* from = static_cast<const bf16*>(args.qkv) + sequence.begin * args.qkv_stride + head * dim;
  const int first = tile * kRows;
  const int rows = min(kRows, sequence.length - first);
  const KeyTiles<kDim, kTerms> tiles(q + kTileSize<kDim>, args, head);
  const ScoreUnits<kTerms> units(args);
  const TilePairs<kTerms, Order::queries> pairs(args, sequence, head);
  const int first_tile = units.first_tile(first, kRows);
  copy_rows<kDim>(q, from + static_cast<int64_t>(first) * args.qkv_stride, args.qkv_stride, rows, dim);
  tiles.copy(sequence, tile, first_tile);

  const int warp = warp_index();
  const int quad = static_cast<int>(threadIdx.x) % 4;
  const int row = 16 * warp + static_cast<int>(threadIdx.x) % 32 / 4;
  const int64_t token = sequence.begin + first + row;
  const Mask mask(args.dropout);
  uint32_t row_keys[2] = {0, 0};
  float factors[2];
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int64_t place = (token + 8 * r) * args.heads + head;
    if constexpr (kDrops) row_keys[r] = mask.row(static_cast<uint64_t>(place));
    factors[r] = query_factor<kTerms>(args, place, row + 8 * r < rows);
  }
  constexpr int kSpan = kTileSpan<kDim, kTerms>;
  float most[2] = {-INFINITY, -INFINITY};
  float sum[2] = {0, 0};
  float o[kDim / 8][4];
  clear(o);
  for (int key_tile = first_tile; key_tile <= tile; ++key_tile) {
    tiles.arrive(sequence, tile, key_tile);
    const float* strip = tiles.strip(key_tile);
    const bool diagonal = key_tile == tile;
    const uint32_t column = Mask::pair_key(static_cast<uint32_t>(key_tile * kRows / 2 + quad));
#pragma unroll
    for (int span = 0; span < kRows; span += kSpan) {
      const auto of_pairs = pairs.template span<kSpan>(tile, key_tile, span, row, sequence.length);
      float s[kSpan / 8][4];
      group_begin();
      multiply_rows<kDim>(s, q, tiles.keys(key_tile), span);
      group_commit();
      group_wait<0>(s);
      float highest[2] = {most[0], most[1]};
#pragma unroll
      for (int half = 0; half < kSpan; half += kHalf) {
        // On the diagonal the first two warps' queries do not see the second half.
        if (diagonal && span + half > 16 * warp) continue;
#pragma unroll
        for (int n = half / 8; n < (half + kHalf) / 8; ++n) {
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            const int key = span + 8 * n + 2 * quad + e % 2;
            const int distance = row + e / 2 * 8 - key;
            const float key_bias = tiles.bias(key_tile, key) + of_pairs.at(n, e);
            s[n][e] = units.adjusted(s[n][e], factors[e / 2], strip + distance, key_bias);
            if ((diagonal && distance < 0) || units.unseen(first - key_tile * kRows + distance)) s[n][e] = -INFINITY;
            highest[e / 2] = fmaxf(highest[e / 2], s[n][e]);
          }
        }
      }
      float shift[2];
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        highest[r] = fmaxf(highest[r], __shfl_xor_sync(kAll, highest[r], 1));
        highest[r] = fmaxf(highest[r], __shfl_xor_sync(kAll, highest[r], 2));
        shift[r] = units.shift_of(highest[r]);
        const float shrink = exp2_fast(most[r] * units.power - shift[r]);
        most[r] = highest[r];
        sum[r] *= shrink;
#pragma unroll
        for (int c = 0; c < kDim / 8; ++c) {
          o[c][2 * r] *= shrink;
          o[c][2 * r + 1] *= shrink;
        }
      }
#pragma unroll
      for (int half = 0; half < kSpan; half += kHalf) {
        if (diagonal && span + half > 16 * warp) {
          clear_half(s, half);
          continue;
        }
#pragma unroll
        for (int n = half / 8; n < (half + kHalf) / 8; ++n) {
          const PairBits<kDrops> bits(row_keys, column + Mask::pair_key(static_cast<uint32_t>(span / 2 + 4 * n)));
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            const float weight = exp2_fast(s[n][e] * units.power - shift[e / 2]);
            sum[e / 2] += weight;
            s[n][e] = bits.kept(mask, e) ? weight : 0.0f;
          }
        }
      }
      const Weights<kSpan / 8> weights(s);
      group_begin();
      weights.template add_rows<kDim>(o, tiles.values(key_tile), span);
      group_commit();
      group_wait<0>(o);
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    sum[r] += __shfl_xor_sync(kAll, sum[r], 1);
    sum[r] += __shfl_xor_sync(kAll, sum[r], 2);
    const bool valid = row + 8 * r < rows;
    store_row<kDim>(o, r, (kDrops ? mask.scale() : 1.0f) / sum[r], out + (token + 8 * r) * part + head * dim, dim,
                    valid);
    if (valid && quad == 0) log_sum[(token + 8 * r) * args.heads + head] = units.natural(most[r]) + logf(sum[r]);
  }
}

}  // namespace

void tiled_attention_forward(const Attention& args, void* out, float* log_sum, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>(args.heads), static_cast<unsigned>(plan_capacity(args, kRows) + 1));
  with_tiled_variant(args, [&]<int kDim, Terms kTerms, bool kDrops>() {
    launch("attention_forward", forward<kDim, kTerms, kDrops>, grid, kTiledThreads, kSharedBytes<kDim, kTerms>, stream,
           args, static_cast<bf16*>(out), log_sum);
  });
}

}  // namespace lengthwise::gpu
